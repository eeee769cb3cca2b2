#include "controller/rpc/query_process.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

using testing::HasSubstr;

absl::StatusOr<std::string> Ask(const std::string& script, const std::string& sql, Duration limit = Seconds(30)) {
  signal(SIGPIPE, SIG_IGN);
  QueryProcess process{{"/bin/sh", "-c", script}, limit, 1 << 20};
  auto result = RunQueryProcess(process, sql);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a worker was left behind";
  EXPECT_EQ(errno, ECHILD);
  return result;
}

TEST(QueryProcess, FeedsAndReads) {
  const std::string sql(500'000, 'x');
  const auto out = Ask("cat", sql);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(*out, sql);
  EXPECT_EQ(*Ask("cat", ""), "");
  EXPECT_EQ(*Ask("exec echo hi", sql), "hi\n") << "a worker need not read its input";
}

TEST(QueryProcess, MapsExitCodes) {
  const auto bad = Ask("echo 'no such column: x' >&2; exit 65", "q");
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("no such column: x"));
  EXPECT_EQ(Ask("exit 69", "q").status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Ask("exit 1", "q").status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(Ask("kill -KILL $$", "q").status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(QueryProcess, CutsTimeAndOutput) {
  const auto slow = Ask("while :; do :; done", "q", Milliseconds(50));
  EXPECT_EQ(slow.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(slow.status().message()), HasSubstr("50 ms"));
  const auto big = Ask("exec yes", "q");
  EXPECT_EQ(big.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(big.status().message()), HasSubstr("larger than"));
}

TEST(QueryProcess, SaysWhatIsMissing) {
  const auto result = RunQueryProcess({{"/does/not/exist"}, Seconds(1), 1}, "q");
  EXPECT_EQ(result.status().code(), absl::StatusCode::kNotFound);
}

TEST(QueryProcess, GivesTheWorkerNothingOfOurEnvironment) {
  setenv("PYPTOX_TEST_SECRET", "1", 1);
  const auto out = Ask("/usr/bin/env; trap", "q");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_THAT(*out, testing::Not(HasSubstr("SECRET")));
}

}  // namespace
}  // namespace pyptox::controller
