#include "base/file_io.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <thread>

#include "tests/support/temp_folder.h"

namespace pyptox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ErrnoStatus, Codes) {
  EXPECT_EQ(ErrnoStatus(ENOENT, "x"), absl::NotFoundError("x: No such file or directory"));
  EXPECT_EQ(ErrnoStatus(EACCES, "x").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoStatus(EPERM, "x").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ErrnoStatus(ENOSPC, "x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoStatus(EDQUOT, "x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoStatus(EFBIG, "x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrnoStatus(EEXIST, "x").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ErrnoStatus(EIO, "x").code(), absl::StatusCode::kInternal);
}

TEST(ReadFile, ReadsWholeFilesUpToTheLimit) {
  TempFolder folder;
  const std::string data = std::string(200'000, 'a') + std::string("\0z", 2);
  folder.Write("f", data);
  EXPECT_EQ(*ReadFile(folder / "f", data.size()), data);
  EXPECT_EQ(ReadFile(folder / "f", data.size() - 1).status().code(), absl::StatusCode::kOutOfRange);
  folder.Write("empty", "");
  EXPECT_EQ(*ReadFile(folder / "empty", 0), "");
  EXPECT_THAT(*ReadFile("/proc/self/status", 1 << 20), HasSubstr("Name:"));  // says it has 0 bytes
}

TEST(ReadFile, RefusesWhatIsNoFile) {
  TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(folder / "fifo", 10).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReadFile(folder.path(), 10).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ReadFile("/dev/zero", 10).status().code(), absl::StatusCode::kFailedPrecondition);
  const absl::Status none = ReadFile(folder / "none", 10).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr(folder / "none"));
}

TEST(WriteFileAtomically, WritesReplacesAndSetsTheMode) {
  TempFolder folder;
  ASSERT_TRUE(WriteFileAtomically(folder / "f", "one").ok());
  EXPECT_EQ(folder.Read("f"), "one");
  EXPECT_EQ(folder.Mode("f"), 0600);
  ASSERT_TRUE(WriteFileAtomically(folder / "f", "two", 0755).ok());
  EXPECT_EQ(folder.Read("f"), "two");
  EXPECT_EQ(folder.Mode("f"), 0755);
  EXPECT_THAT(folder.List(), ElementsAre("f"));
}

TEST(WriteFileAtomically, TakesTheLongestName) {
  TempFolder folder;
  const std::string name(255, 'n');
  EXPECT_TRUE(WriteFileAtomically(folder / name.c_str(), "text").ok());
  EXPECT_EQ(*ReadFile(folder / name.c_str(), 10), "text");
}

TEST(WriteFileAtomically, LeavesEverythingAsItWasOnError) {
  TempFolder folder;
  EXPECT_EQ(WriteFileAtomically(folder / "none/f", "x").code(), absl::StatusCode::kNotFound);
  folder.Write("dir/inner", "");
  EXPECT_FALSE(WriteFileAtomically(folder / "dir", "x").ok());  // rename over a folder
  EXPECT_THAT(folder.List(), ElementsAre("dir", "dir/inner"));
}

// Runs `body` in a child with at most `bytes` per file, so that a write fails half-way; true when it returned true.
bool WithFileSizeLimit(rlim_t bytes, const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(WriteFileAtomically, AFullDiskKeepsTheOldFile) {
  TempFolder folder;
  folder.Write("f", "old");
  EXPECT_TRUE(WithFileSizeLimit(1000, [&] {
    const absl::Status status = WriteFileAtomically(folder / "f", std::string(5000, 'x'));
    return status == absl::ResourceExhaustedError(folder / "f" + ": write: File too large");
  }));
  EXPECT_EQ(folder.Read("f"), "old");
  EXPECT_THAT(folder.List(), ElementsAre("f"));
}

TEST(WriteFileAtomically, AReaderSeesOneVersionOrTheOther) {
  TempFolder folder;
  const std::string a(100'000, 'a'), b(100'000, 'b');
  ASSERT_TRUE(WriteFileAtomically(folder / "f", a).ok());
  std::thread writer([&] {
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(WriteFileAtomically(folder / "f", i % 2 == 0 ? b : a).ok());
  });
  for (int i = 0; i < 200; ++i) {
    const absl::StatusOr<std::string> seen = ReadFile(folder / "f", 1 << 20);
    EXPECT_TRUE(seen.ok() && (*seen == a || *seen == b));
  }
  writer.join();
}

TEST(WriteAll, SaysThatTheDiskIsFull) {
  UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  EXPECT_EQ(WriteAll(full.get(), "x").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(WriteAll(full.get(), "").ok());
}

TEST(WriteAll, GoesOnAfterShortWrites) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  std::string got;
  std::thread reader([&] {
    char buffer[1000];
    for (ssize_t n; (n = read(read_end.get(), buffer, sizeof buffer)) > 0;) got.append(buffer, static_cast<size_t>(n));
  });
  const std::string data(1'000'000, 'q');
  EXPECT_TRUE(WriteAll(write_end.get(), data).ok());
  write_end.Reset();
  reader.join();
  EXPECT_EQ(got, data);
}

TEST(MakeFolders, MakesParentsAndTakesExistingOnes) {
  TempFolder folder;
  EXPECT_TRUE(MakeFolders(folder / "a/b/c").ok());
  EXPECT_EQ(folder.Mode("a/b"), 0700);
  EXPECT_TRUE(MakeFolders(folder / "a/b/c/").ok());
  EXPECT_TRUE(MakeFolders("/").ok());
  folder.Write("file", "");
  EXPECT_EQ(MakeFolders(folder / "file/x").code(), absl::StatusCode::kFailedPrecondition);
}

TEST(RemoveTree, RemovesLinksAndNotWhatTheyPointAt) {
  TempFolder folder;
  folder.Write("keep/file", "x");
  folder.Write("tree/a/b/c", "x");
  folder.Write("tree/removed-0/removed-1/x", "x");
  ASSERT_EQ(symlink((folder / "keep").c_str(), (folder / "tree/a/link").c_str()), 0);
  ASSERT_EQ(symlink("nowhere", (folder / "tree/dangling").c_str()), 0);
  ASSERT_EQ(mkfifo((folder / "tree/a/fifo").c_str(), 0600), 0);
  ASSERT_EQ(chmod((folder / "tree/a/b").c_str(), 0), 0);
  ASSERT_EQ(chmod((folder / "tree/a").c_str(), 0500), 0);
  EXPECT_TRUE(RemoveTree(folder / "tree").ok());
  EXPECT_THAT(folder.List(), ElementsAre("keep", "keep/file"));
  ASSERT_EQ(symlink("keep", (folder / "link").c_str()), 0);
  EXPECT_TRUE(RemoveTree(folder / "link").ok());
  EXPECT_TRUE(RemoveTree(folder / "link").ok());  // a missing one is fine
  EXPECT_TRUE(RemoveTree(folder / "keep/file").ok());
  EXPECT_THAT(folder.List(), ElementsAre("keep"));
}

TEST(RemoveTree, ADeepTreeNeedsFewDescriptors) {
  TempFolder folder;
  UniqueFd at = folder.Open();
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(mkdirat(at.get(), "d", 0700), 0);
    at.Reset(openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.valid());
    UniqueFd file(openat(at.get(), "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file.valid());
  }
  at.Reset();
  EXPECT_TRUE(RemoveTree(folder / "d").ok());
  EXPECT_THAT(folder.List(), IsEmpty());
}

TEST(FreeBytes, NamesAMissingPath) {
  EXPECT_GT(*FreeBytes("/tmp"), 0u);
  EXPECT_EQ(FreeBytes("/nowhere/at/all").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace pyptox
