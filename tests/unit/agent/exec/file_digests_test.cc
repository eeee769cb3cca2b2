#include "agent/exec/file_digests.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/agent/exec/exec_fixture.h"

namespace pyptox::agent {
namespace {

class FileDigestsTest : public ExecFixture {};

TEST_F(FileDigestsTest, HashesContentsAndSeesEveryChange) {
  const std::string path = folder_ + "/file";
  for (const std::string text : {"", "one", "two", "three"}) {
    Write("file", text);
    const auto value = digests_.Of(path);
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(value->digest, Sha256Of(text));
    EXPECT_EQ(value->size, text.size());
  }
}

TEST_F(FileDigestsTest, ASettledFileIsReadOnce) {
  // A system file is older than two seconds, so the second answer comes from memory: it must be the same.
  const auto first = digests_.Of("/bin/sh");
  const auto second = digests_.Of("/bin/sh");
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->digest, *Sha256OfFile("/bin/sh"));
  EXPECT_EQ(second->digest, first->digest);
  EXPECT_EQ(second->size, first->size);
}

TEST_F(FileDigestsTest, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(digests_.Of(folder_ + "/fifo").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(digests_.Of(folder_).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(digests_.Of("/dev/zero").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(digests_.Of(folder_ + "/absent").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace pyptox::agent
