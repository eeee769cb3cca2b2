#include "ctl/suite/source_state.h"

#include <sys/stat.h>

#include <cstdlib>

#include "ctl/suite/source_files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "matrix/tree_digest.h"
#include "tests/support/temp_folder.h"

namespace pyptox::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// A repository with a suite's folder `suite` in it, one commit: suite/a.c, suite/run.sh, other.txt.
class SourceStateTest : public ::testing::Test {
 protected:
  SourceStateTest() {
    // Nothing of this machine's git configuration, and no repository around the temporary folder.
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
    setenv("GIT_CEILING_DIRECTORIES", std::filesystem::temp_directory_path().c_str(), 1);
    folder.Write("top/suite/a.c", "int a;\n");
    folder.Write("top/suite/run.sh", "true\n");
    folder.Write("top/other.txt", "x\n");
    Git("init -q -b main");
    Git("add -A");
    Commit();
  }

  void Git(const std::string& arguments) {
    const std::string command = "git -C '" + (folder / "top") + "' -c user.name=T -c user.email=t@example.org " +
                                arguments + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void Commit() { Git("commit -q -m x"); }

  v1::Tree Tree(const std::string& glob = "**") {
    v1::Suite suite;
    suite.add_sources(glob);
    return CollectSources(suite_folder, suite).tree;
  }
  CapturedSource Capture(const std::string& glob = "**") { return *CaptureSource(suite_folder, Tree(glob)); }

  TempFolder folder;
  const std::string suite_folder = folder / "top/suite";
};

TEST_F(SourceStateTest, Clean) {
  const CapturedSource source = Capture();
  EXPECT_EQ(source.fault, "");
  EXPECT_FALSE(source.state.dirty());
  EXPECT_THAT(source.state.head(), MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(source.state.head().size(), 40u);
  EXPECT_EQ(source.state.repository(), "top");
  EXPECT_EQ(source.state.folder(), "suite");
  EXPECT_EQ(source.state.tree_sha256(), matrix::TreeSha256(Tree()));
}

TEST_F(SourceStateTest, AnotherFileOfTheRepositoryDoesNotCount) {
  folder.Write("top/other.txt", "changed\n");
  folder.Write("top/suite/notes.txt", "not declared\n");
  EXPECT_FALSE(Capture("*.c").state.dirty());
}

TEST_F(SourceStateTest, AChangedFile) {
  folder.Write("top/suite/a.c", "int b;\n");
  EXPECT_TRUE(Capture().state.dirty());
  EXPECT_EQ(Capture().fault, "a.c differs from HEAD");
  Git("add -A");
  EXPECT_TRUE(Capture().state.dirty()) << "staged is not committed";
  Commit();
  EXPECT_FALSE(Capture().state.dirty());
}

TEST_F(SourceStateTest, AnUntrackedFile) {
  folder.Write("top/suite/new.c", "");
  EXPECT_TRUE(Capture().state.dirty());
  EXPECT_EQ(Capture().fault, "new.c is not in HEAD");
}

TEST_F(SourceStateTest, AnIgnoredFileIsDeclaredAllTheSame) {
  folder.Write("top/.gitignore", "*.bin\n");
  Git("add -A");
  Commit();
  folder.Write("top/suite/data.bin", "x");
  EXPECT_EQ(Capture().fault, "data.bin is not in HEAD");
}

TEST_F(SourceStateTest, ModeCounts) {
  chmod((suite_folder + "/run.sh").c_str(), 0755);
  EXPECT_TRUE(Capture().state.dirty());
  EXPECT_EQ(Capture().fault, "run.sh has another mode than in HEAD");
}

TEST_F(SourceStateTest, TheIndexIsNotBelieved) {
  Git("update-index --assume-unchanged suite/a.c");
  folder.Write("top/suite/a.c", "int b;\n");
  EXPECT_TRUE(Capture().state.dirty());
}

TEST_F(SourceStateTest, TheSuitesOwnFilesCount) {
  folder.Write("top/suite/suite.yaml", "name: x\n");
  EXPECT_EQ(CaptureSource(suite_folder, Tree("*.c"), {"suite.yaml"})->fault, "suite.yaml is not in HEAD");
  Git("add -A");
  Commit();
  EXPECT_EQ(CaptureSource(suite_folder, Tree("*.c"), {"suite.yaml"})->fault, "");
  folder.Write("top/suite/suite.yaml", "name: y\n");
  EXPECT_EQ(CaptureSource(suite_folder, Tree("*.c"), {"suite.yaml"})->fault, "suite.yaml differs from HEAD");
}

TEST_F(SourceStateTest, OddNames) {
  folder.Write("top/suite/a b*[x]?.c", "1\n");
  folder.Write("top/suite/-q.c", "2\n");
  folder.Write("top/suite/\u4e2d.c", "3\n");
  folder.Write("top/suite/:(glob)x.c", "4\n");
  Git("add -A");
  Commit();
  EXPECT_EQ(Capture().fault, "");
}

TEST_F(SourceStateTest, ManyFilesAreAskedInBatches) {
  for (int i = 0; i < 1100; ++i) folder.Write("top/suite/many/" + std::to_string(i), std::to_string(i));
  Git("add -A");
  Commit();
  EXPECT_EQ(Capture().fault, "");
  folder.Write("top/suite/many/999", "changed");
  EXPECT_EQ(Capture().fault, "many/999 differs from HEAD");
}

TEST_F(SourceStateTest, NoRepository) {
  folder.Write("loose/a.c", "");
  v1::Suite suite;
  suite.add_sources("**");
  const v1::Tree tree = CollectSources(folder / "loose", suite).tree;
  const CapturedSource source = *CaptureSource(folder / "loose", tree);
  EXPECT_TRUE(source.state.dirty());
  EXPECT_EQ(source.state.head(), "");
  EXPECT_EQ(source.state.repository(), "");
  EXPECT_EQ(source.state.tree_sha256(), matrix::TreeSha256(tree));
  EXPECT_THAT(source.fault, HasSubstr("git finds no repository"));
}

TEST_F(SourceStateTest, NoCommit) {
  ASSERT_EQ(std::system(("git init -q '" + (folder / "empty") + "'").c_str()), 0);
  const CapturedSource source = *CaptureSource(folder / "empty", {});
  EXPECT_EQ(source.state.head(), "");
  EXPECT_TRUE(source.state.dirty());
  EXPECT_EQ(source.fault, "the repository has no commit");
}

TEST_F(SourceStateTest, NoGit) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", (folder / "nothing").c_str(), 1);
  const absl::StatusOr<CapturedSource> source = CaptureSource(suite_folder, Tree());
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->fault, "git is not installed");
  EXPECT_TRUE(source->state.dirty());
}

TEST_F(SourceStateTest, TheRepositorysNameIsTheOriginsLastPartAndNoSecret) {
  for (const auto& [url, name] :
       std::vector<std::pair<std::string, std::string>>{{"https://user:token@example.org/group/kernels.git", "kernels"},
                                                        {"git@example.org:kernels.git", "kernels"},
                                                        {"https://token@example.org", "example.org"},
                                                        {"/srv/git/kernels/", "kernels"}}) {
    Git("config remote.origin.url '" + url + "'");
    EXPECT_EQ(Capture().state.repository(), name) << url;
  }
}

TEST_F(SourceStateTest, VariablesOfAHookDoNotMisleadIt) {
  ASSERT_EQ(std::system(("git init -q '" + (folder / "wrong") + "'").c_str()), 0);
  setenv("GIT_DIR", (folder / "wrong/.git").c_str(), 1);
  setenv("GIT_INDEX_FILE", (folder / "wrong/index").c_str(), 1);
  const CapturedSource source = Capture();
  unsetenv("GIT_DIR");
  unsetenv("GIT_INDEX_FILE");
  EXPECT_EQ(source.fault, "");
  EXPECT_EQ(source.state.repository(), "top");
}

}  // namespace
}  // namespace pyptox::ctl
