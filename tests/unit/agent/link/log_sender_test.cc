#include "agent/link/log_sender.h"

#include "base/link_settings.h"
#include "tests/unit/agent/link/scratch_folder.h"

namespace pyptox::agent {
namespace {

v1::Welcome Welcome(std::initializer_list<std::pair<uint64_t, uint64_t>> has) {
  v1::Welcome welcome;
  for (const auto& [attempt, bytes] : has) {
    v1::LogAck* ack = welcome.add_logs();
    ack->set_attempt_id(attempt);
    ack->set_bytes(bytes);
  }
  return welcome;
}

v1::LogAck Ack(uint64_t attempt, uint64_t bytes) {
  v1::LogAck ack;
  ack.set_attempt_id(attempt);
  ack.set_bytes(bytes);
  return ack;
}

class LogSenderTest : public ::testing::Test {
 protected:
  LogSenderTest() {
    sender_.SetWake([this] { ++wakes_; });
  }
  void Add(uint64_t attempt, const std::string& text) {
    const std::string name = std::to_string(attempt);
    folder_.Write(name, text);
    sender_.Add(attempt, folder_ / name);
    sender_.Grew(attempt, text.size());
  }
  // `ATTEMPT@OFFSET:DATA`, empty for nothing.
  std::string Next() {
    const auto chunk = sender_.Next();
    if (!chunk.has_value()) return "";
    return std::to_string(chunk->attempt_id()) + "@" + std::to_string(chunk->offset()) + ":" + chunk->data();
  }
  ScratchFolder folder_;
  LogSender sender_;
  int wakes_ = 0;
};

TEST_F(LogSenderTest, WaitsForTheWelcomeAndGoesOnWhereTheControllerIs) {
  Add(1, "abcdef");
  Add(2, "uvw");
  EXPECT_FALSE(sender_.HasWork());
  EXPECT_EQ(Next(), "");
  EXPECT_EQ(wakes_, 0);
  sender_.OnWelcome(Welcome({{1, 4}, {77, 3}}));
  EXPECT_GT(wakes_, 0);
  EXPECT_EQ(Next(), "1@4:ef");
  EXPECT_EQ(Next(), "2@0:uvw");
  EXPECT_EQ(Next(), "");
  EXPECT_FALSE(sender_.HasWork());

  // The stream broke; the controller has less than was sent.
  sender_.OnLinkUp();
  EXPECT_EQ(Next(), "");
  sender_.OnWelcome(Welcome({{1, 5}}));
  EXPECT_EQ(Next(), "1@5:f");
  EXPECT_EQ(Next(), "2@0:uvw");
  EXPECT_EQ(Next(), "");
}

TEST_F(LogSenderTest, GrowthWakes) {
  sender_.OnWelcome({});
  Add(1, "ab");
  EXPECT_EQ(Next(), "1@0:ab");
  const int before = wakes_;
  Add(1, "abcd");
  EXPECT_EQ(wakes_, before + 1);
  sender_.Grew(1, 3);
  EXPECT_EQ(wakes_, before + 1) << "no news";
  EXPECT_EQ(Next(), "1@2:cd");
  sender_.Grew(5, 3);
  sender_.Remove(1);
  sender_.Grew(1, 100);
  EXPECT_EQ(Next(), "");
}

TEST_F(LogSenderTest, AFullWindowWaitsForAcknowledgements) {
  sender_.OnWelcome({});
  const std::string text(kLogWindowBytes + kMaxChunkBytes + 5, 'x');
  Add(1, text);
  Add(2, "other");
  uint64_t sent = 0;
  bool other = false;
  while (auto chunk = sender_.Next()) {
    EXPECT_LE(chunk->data().size(), static_cast<size_t>(kMaxChunkBytes));
    if (chunk->attempt_id() == 2) {
      other = true;
      continue;
    }
    EXPECT_EQ(chunk->offset(), sent);
    sent += chunk->data().size();
  }
  EXPECT_EQ(sent, kLogWindowBytes);
  EXPECT_TRUE(other) << "one full window holds up no other log";
  sender_.OnAck(Ack(1, 10));
  ASSERT_TRUE(sender_.HasWork());
  sent += sender_.Next()->data().size();
  sender_.OnAck(Ack(1, 3));  // an old one changes nothing
  sender_.OnAck(Ack(9, 3));
  EXPECT_FALSE(sender_.HasWork());
  // Before a result the window does not count.
  while (auto chunk = sender_.NextOf(1)) sent += chunk->data().size();
  EXPECT_EQ(sent, text.size());
  EXPECT_FALSE(sender_.NextOf(3).has_value());
}

TEST_F(LogSenderTest, AMissingFileStopsItsLogOnly) {
  sender_.OnWelcome({});
  sender_.Add(1, folder_ / "absent");
  sender_.Grew(1, 10);
  Add(2, "there");
  EXPECT_EQ(Next(), "2@0:there");
  EXPECT_EQ(Next(), "");
  EXPECT_FALSE(sender_.HasWork());
  EXPECT_FALSE(sender_.NextOf(1).has_value());
}

}  // namespace
}  // namespace pyptox::agent
