#include "agent/steps/work_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_io.h"

namespace pyptox::agent {
namespace {

using ::testing::ElementsAre;

class WorkFolderTest : public ::testing::Test {
 protected:
  WorkFolderTest() : root_(::testing::TempDir() + "pyptox-folder-XXXXXX") {
    if (mkdtemp(root_.data()) == nullptr) abort();
  }
  ~WorkFolderTest() override { EXPECT_TRUE(RemoveTree(root_).ok()); }
  std::string root_;
};

TEST_F(WorkFolderTest, IsPrivateAndNew) {
  ASSERT_TRUE(MakeFolders(root_ + "/attempts/7/src/old").ok());
  const auto folder = WorkFolder::Create(root_, 7);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(folder->path(), root_ + "/attempts/7");
  EXPECT_FALSE(folder->Exists("src/old"));
  for (const char* part : {"src", "build", "artifacts", "log", "tmp", "kernel"}) {
    struct stat info {};
    ASSERT_EQ(stat((folder->path() + "/" + part).c_str(), &info), 0) << part;
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
}

TEST_F(WorkFolderTest, ReadsRegularFilesOnly) {
  const auto folder = WorkFolder::Create(root_, 7);
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(folder->Write("build/file", "contents").ok());
  EXPECT_EQ(*folder->Read("build/file", 8), "contents");
  EXPECT_EQ(folder->Read("build/file", 7).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(folder->Write("build/file", "again").ok());
  const auto file = folder->Open("build/file");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size, 8u);
  EXPECT_FALSE(file->executable);
  EXPECT_EQ(*folder->ReadStart(*file, 4), "cont");
  EXPECT_EQ(*folder->ReadStart(*file, 100), "contents");

  ASSERT_EQ(symlink("file", (folder->path() + "/build/link").c_str()), 0);
  ASSERT_EQ(symlink("/etc", (folder->path() + "/build/etc").c_str()), 0);
  ASSERT_EQ(mkfifo((folder->path() + "/build/fifo").c_str(), 0600), 0);
  for (const char* name : {"build/link", "build/etc/passwd", "build/fifo", "build", "../../x", "/etc/passwd"}) {
    EXPECT_FALSE(folder->Open(name).ok()) << name;
  }
  EXPECT_EQ(folder->Open("build/absent").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(folder->Exists("build/link"));
  EXPECT_FALSE(folder->Exists("build/absent"));
  ASSERT_TRUE(folder->MakeFolder("build/deep").ok());
  ASSERT_TRUE(folder->Write("build/deep/b", "").ok());
  ASSERT_TRUE(folder->Write("build/deep/a", "").ok());
  EXPECT_THAT(folder->FilesBeneath("build", 10).names, ElementsAre("build/deep/a", "build/deep/b", "build/file"));
  EXPECT_EQ(folder->FilesBeneath("build", 2).names.size(), 2u);
  EXPECT_EQ(folder->FilesBeneath("build", 2).left_out, 4u) << "a file, two links and a fifo";
  EXPECT_TRUE(folder->FilesBeneath("absent", 10).names.empty());
  EXPECT_TRUE(folder->RemoveFolder("build").ok());
  EXPECT_FALSE(folder->Exists("build"));
}

}  // namespace
}  // namespace pyptox::agent
