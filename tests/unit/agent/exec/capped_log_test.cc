#include "agent/exec/capped_log.h"

#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/agent/exec/exec_fixture.h"

namespace pyptox::agent {
namespace {

class CappedLogTest : public ExecFixture {
 protected:
  std::string Contents() const { return *ReadFile(folder_ + "/log", 1 << 30); }
  std::unique_ptr<CappedLog> Create(uint64_t head, uint64_t tail) const {
    auto log = CappedLog::Create(folder_ + "/log", head, tail);
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }
};

// Every length around the caps, in every piece size: what is kept is the head and the tail, byte for byte.
TEST_F(CappedLogTest, HeadMarkerTail) {
  for (size_t length = 0; length <= 24; ++length) {
    for (size_t piece = 1; piece <= 24; ++piece) {
      std::string all;
      for (size_t i = 0; i < length; ++i) all.push_back(static_cast<char>(i));  // control bytes, NUL too
      auto log = Create(8, 6);
      for (size_t at = 0; at < length; at += piece) ASSERT_TRUE(log->Append(all.substr(at, piece)).ok());
      EXPECT_EQ(Contents(), all.substr(0, 8)) << "the head is there while it runs";
      ASSERT_TRUE(log->Finish().ok());
      std::string expected = all;
      if (length > 14) {
        expected = all.substr(0, 8) + "\n[pyptox: " + std::to_string(length - 14) + " bytes left out]\n" +
                   all.substr(length - 6);
      }
      EXPECT_EQ(Contents(), expected) << length << " in pieces of " << piece;
      EXPECT_EQ(log->produced(), length);
      EXPECT_EQ(log->kept(), std::min<size_t>(length, 14));
      EXPECT_EQ(log->size(), expected.size());
      EXPECT_FALSE(log->Append("more").ok());
      ASSERT_EQ(unlink((folder_ + "/log").c_str()), 0);
    }
  }
}

TEST_F(CappedLogTest, AGigabyteIsHeldInItsCap) {
  auto log = Create(kLogHeadBytes, kLogTailBytes);
  const std::string piece(1 << 16, '\0');
  for (int i = 0; i < 1 << 14; ++i) ASSERT_TRUE(log->Append(piece).ok());
  ASSERT_TRUE(log->Append("end").ok());
  ASSERT_TRUE(log->Finish().ok());
  const std::string contents = Contents();
  const std::string marker = "\n[pyptox: " + std::to_string((1ull << 30) + 3 - (64 << 20)) + " bytes left out]\n";
  EXPECT_EQ(contents.size(), (64u << 20) + marker.size());
  EXPECT_EQ(contents.substr(32 << 20, marker.size()), marker);
  EXPECT_TRUE(contents.ends_with(std::string("\0end", 4)));
  EXPECT_EQ(log->produced(), (1ull << 30) + 3);
  EXPECT_EQ(log->kept(), 64u << 20);
}

TEST_F(CappedLogTest, NeverOverwritesAndNeverFollowsALink) {
  Write("log", "somebody's");
  EXPECT_EQ(CappedLog::Create(folder_ + "/log").status().code(), absl::StatusCode::kAlreadyExists);
  ASSERT_EQ(symlink("elsewhere", (folder_ + "/link").c_str()), 0);
  EXPECT_FALSE(CappedLog::Create(folder_ + "/link").ok());
  EXPECT_NE(access((folder_ + "/elsewhere").c_str(), F_OK), 0);
}

TEST_F(CappedLogTest, AFullDiskIsAnError) {
  auto log = Create(8, 6);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit four{4, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &four), 0);
  const absl::Status first = log->Append("12345678");
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(first.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(log->Append("more"), first) << "the log ended there";
  EXPECT_EQ(log->Finish(), first);
}

}  // namespace
}  // namespace pyptox::agent
