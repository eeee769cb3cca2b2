#include "controller/runtime/log_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <future>
#include <string>
#include <thread>

#include "base/file_io.h"
#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

class LogFilesTest : public testing::Test {
 protected:
  LogFilesTest() {
    char name[] = "/tmp/pyptox-log-files-XXXXXX";
    folder_ = mkdtemp(name);
    Open();
  }
  ~LogFilesTest() override {
    logs_.reset();
    EXPECT_TRUE(RemoveTree(folder_).ok());
  }
  void Open() {
    logs_.reset();
    auto logs = LogFiles::Open(folder_ + "/logs", [](absl::Status status) { ADD_FAILURE() << status; });
    ASSERT_TRUE(logs.ok()) << logs.status();
    logs_ = *std::move(logs);
  }
  uint64_t WaitDurable(uint64_t attempt) {
    std::promise<uint64_t> bytes;
    logs_->WhenDurable(attempt, [&](uint64_t n) { bytes.set_value(n); });
    return bytes.get_future().get();
  }

  std::string folder_;
  std::unique_ptr<LogFiles> logs_;
};

TEST_F(LogFilesTest, AppendsByOffset) {
  ASSERT_TRUE(logs_->Begin(3, "a").ok());
  EXPECT_TRUE(logs_->Append("a", 3, 0, "hello ").ok());
  EXPECT_TRUE(logs_->Append("a", 3, 0, "hello ").ok()) << "a repeat";
  EXPECT_TRUE(logs_->Append("a", 3, 3, "lo world").ok()) << "an overlap";
  EXPECT_EQ(logs_->Append("a", 3, 12, "x").code(), absl::StatusCode::kOutOfRange) << "a gap";
  EXPECT_EQ(WaitDurable(3), 11u);
  EXPECT_EQ(*logs_->Read(3, 0, 100), "hello world");
  EXPECT_EQ(*logs_->Read(3, 6, 3), "wor");
  EXPECT_EQ(*logs_->Read(3, 11, 100), "");
  EXPECT_EQ(*logs_->Read(3, UINT64_MAX, 100), "");
  EXPECT_EQ(*ReadFile(folder_ + "/logs/attempt-3.log", 100), "hello world");
}

TEST_F(LogFilesTest, TakesBytesOfLiveAttemptsFromTheirAgentOnly) {
  EXPECT_TRUE(logs_->Append("a", 1, 0, "x").ok());
  EXPECT_EQ(WaitDurable(1), UINT64_MAX);
  EXPECT_EQ(*logs_->Read(1, 0, 10), "");
  ASSERT_TRUE(logs_->Begin(1, "a").ok());
  EXPECT_TRUE(logs_->Append("b", 1, 0, "stranger").ok());
  EXPECT_EQ(*logs_->Read(1, 0, 10), "");
  EXPECT_TRUE(logs_->Append("a", 1, 0, "x").ok());
  logs_->End(1);
  EXPECT_TRUE(logs_->Append("a", 1, 1, "late").ok());
  EXPECT_EQ(*logs_->Read(1, 0, 10), "x");
}

TEST_F(LogFilesTest, GoesOnAfterARestart) {
  ASSERT_TRUE(logs_->Begin(1, "a").ok());
  EXPECT_TRUE(logs_->Append("a", 1, 0, "before ").ok());
  Open();
  EXPECT_EQ(logs_->DurableBytes(1), 0u) << "not live yet";
  ASSERT_TRUE(logs_->Begin(1, "a").ok());
  ASSERT_TRUE(logs_->Begin(1, "a").ok());
  EXPECT_EQ(logs_->DurableBytes(1), 7u);
  EXPECT_TRUE(logs_->Append("a", 1, 7, "after").ok());
  EXPECT_EQ(*logs_->Read(1, 0, 100), "before after");
}

TEST_F(LogFilesTest, AFullLogTakesNothingMore) {
  ASSERT_TRUE(logs_->Begin(1, "a").ok());
  const std::string chunk(1 << 20, 'x');
  for (uint64_t offset = 0; offset < kMaxLogBytes + 2 * chunk.size(); offset += chunk.size()) {
    EXPECT_EQ(logs_->Append("a", 1, std::min(offset, kMaxLogBytes), chunk), absl::OkStatus());
  }
  EXPECT_EQ(WaitDurable(1), UINT64_MAX) << "the agent need not keep the rest";
  struct stat info;
  ASSERT_EQ(stat((folder_ + "/logs/attempt-1.log").c_str(), &info), 0);
  EXPECT_EQ(static_cast<uint64_t>(info.st_size), kMaxLogBytes);
}

TEST_F(LogFilesTest, FollowersSeeEveryByteAndTheEnd) {
  ASSERT_TRUE(logs_->Begin(1, "a").ok());
  std::string expected;
  std::thread follower([&] {
    std::string got;
    while (true) {
      const std::string chunk = *logs_->Read(1, got.size(), 1000);
      got += chunk;
      if (chunk.empty() && !logs_->WaitForMore(1, got.size(), Seconds(60))) break;
    }
    EXPECT_EQ(got.size(), 200'000u);
    EXPECT_EQ(got.substr(got.size() - 4), "1999");
  });
  for (int i = 0; i < 2000; ++i) {
    std::string line(100, '.');
    const std::string number = std::to_string(i);
    line.replace(100 - number.size(), number.size(), number);
    ASSERT_TRUE(logs_->Append("a", 1, i * 100, line).ok());
  }
  logs_->End(1);
  follower.join();
  EXPECT_FALSE(logs_->WaitForMore(1, 200'000, Seconds(60)));
  EXPECT_TRUE(logs_->WaitForMore(1, 0, Seconds(60)));
}

TEST_F(LogFilesTest, CallbacksOfAnEndedAttemptStillCome) {
  ASSERT_TRUE(logs_->Begin(1, "a").ok());
  EXPECT_TRUE(logs_->Append("a", 1, 0, "x").ok());
  std::promise<uint64_t> bytes;
  logs_->WhenDurable(1, [&](uint64_t n) { bytes.set_value(n); });
  logs_->End(1);
  EXPECT_EQ(bytes.get_future().get(), 1u);
}

}  // namespace
}  // namespace pyptox::controller
