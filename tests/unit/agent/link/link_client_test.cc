#include "agent/link/link_client.h"

#include "base/bounded_queue.h"
#include "tests/unit/agent/link/fake_controller.h"
#include "tests/unit/agent/link/scratch_folder.h"

namespace pyptox::agent {
namespace {

v1::AgentMessage Heartbeat(uint64_t sequence) {
  v1::AgentMessage message;
  message.mutable_heartbeat()->set_sequence(sequence);
  return message;
}

class LinkClientTest : public ::testing::Test {
 protected:
  LinkClientTest()
      : controller_("unix:" + (folder_ / "socket")),
        client_("unix:" + (folder_ / "socket"), &logs_,
                {[this](uint64_t link) { Note("up " + std::to_string(link)); },
                 [this](uint64_t link, v1::ControllerMessage message) {
                   Note("said " + std::to_string(link) + " " + std::to_string(message.body_case()));
                 },
                 [this](uint64_t link, const absl::Status& why) {
                   why_ = why;
                   Note("down " + std::to_string(link));
                 },
                 [this](const std::string& target) {
                   if (wants_unreachable_) Note("unreachable " + target);
                 }}) {}
  ~LinkClientTest() override { client_.Stop(); }

  void Note(std::string text) { ASSERT_TRUE(notes_.Push(std::move(text))); }
  // The client's next event; waits.
  std::string Event() {
    while (true) {
      std::vector<std::string> batch = notes_.PopBatch(1, Seconds(1));
      if (!batch.empty()) return batch.front();
    }
  }
  static v1::ControllerMessage Welcome() {
    v1::ControllerMessage message;
    message.mutable_welcome();
    return message;
  }

  ScratchFolder folder_;
  // Set before Start. Most tests start both ends in any order.
  bool wants_unreachable_ = false;
  absl::Status why_;  // of the newest `down`
  BoundedQueue<std::string> notes_{1000};
  FakeController controller_;
  LogSender logs_;
  LinkClient client_;
};

TEST_F(LinkClientTest, MessagesGoBothWaysInOrder) {
  controller_.Start();
  client_.Start();
  EXPECT_EQ(Event(), "up 1");
  for (uint64_t i = 1; i <= 100; ++i) client_.Send(1, Heartbeat(i));
  for (uint64_t i = 1; i <= 100; ++i) EXPECT_EQ(controller_.Next().heartbeat().sequence(), i);
  controller_.Say(Welcome());
  EXPECT_EQ(Event(), "said 1 " + std::to_string(v1::ControllerMessage::kWelcome));
  EXPECT_TRUE(client_.IsOpen(1));
  client_.Stop();
  EXPECT_EQ(Event(), "down 1");
  EXPECT_FALSE(client_.IsOpen(1));
}

TEST_F(LinkClientTest, SaysOnceThatNobodyAnswers) {
  wants_unreachable_ = true;
  client_.Start();
  EXPECT_EQ(Event(), "unreachable unix:" + (folder_ / "socket"));
  controller_.Start();
  EXPECT_EQ(Event(), "up 1");
}

TEST_F(LinkClientTest, ConnectsWhenTheControllerComesAndComesBack) {
  client_.Start();  // nobody there yet
  controller_.Start();
  EXPECT_EQ(Event(), "up 1");
  controller_.Hang();
  EXPECT_EQ(Event(), "down 1");
  EXPECT_EQ(Event(), "up 2");
  client_.Send(1, Heartbeat(1));  // for a link that is gone
  client_.Send(2, Heartbeat(2));
  EXPECT_EQ(controller_.Next().heartbeat().sequence(), 2u);
  controller_.Stop();
  EXPECT_EQ(Event(), "down 2");
  controller_.Start();
  EXPECT_EQ(Event(), "up 3");
  client_.Drop(2);
  client_.Send(3, Heartbeat(3));
  EXPECT_EQ(controller_.Next().heartbeat().sequence(), 3u);
  client_.Drop(3);
  EXPECT_EQ(Event(), "down 3");
  EXPECT_EQ(Event(), "up 4");
}

// Somebody has to be able to see why an agent does not come up.
TEST_F(LinkClientTest, TheControllersReasonIsKept) {
  const absl::Status reason = absl::FailedPreconditionError("is the name used twice?");
  controller_.Refuse(reason);
  controller_.Start();
  client_.Start();
  for (int link = 1; link <= 5; ++link) {
    EXPECT_EQ(Event(), "up " + std::to_string(link));
    client_.Send(static_cast<uint64_t>(link), Heartbeat(1));
    EXPECT_EQ(Event(), "down " + std::to_string(link));
    EXPECT_EQ(why_, reason);
  }
}

TEST_F(LinkClientTest, StopEndsItWhileNobodyIsThere) {
  client_.Start();
  client_.Stop();
}

// The controller stores a log only while the attempt lives: all of it goes before the result.
TEST_F(LinkClientTest, AResultFollowsItsWholeLog) {
  controller_.Start();
  client_.Start();
  EXPECT_EQ(Event(), "up 1");
  std::string text;
  for (int i = 0; i < (9 << 20); ++i) text.push_back(static_cast<char>(i * 31));
  folder_.Write("log", text);
  logs_.Add(5, folder_ / "log");
  logs_.Grew(5, text.size());
  controller_.Say(Welcome());
  EXPECT_EQ(Event().substr(0, 6), "said 1");
  v1::AgentMessage finished;
  finished.mutable_finished()->set_attempt_id(5);
  client_.Send(1, finished);
  std::string received;
  while (true) {
    const v1::AgentMessage message = controller_.Next();
    if (message.has_finished()) break;
    ASSERT_TRUE(message.has_log());
    ASSERT_EQ(message.log().offset(), received.size());
    received += message.log().data();
  }
  EXPECT_TRUE(received == text);
}

TEST_F(LinkClientTest, LogsAreResumedFromTheAcknowledgedByte) {
  controller_.Start();
  folder_.Write("log", "0123456789");
  logs_.Add(5, folder_ / "log");
  logs_.Grew(5, 10);
  client_.Start();
  controller_.Say(Welcome());
  EXPECT_EQ(controller_.Next().log().data(), "0123456789");
  controller_.Hang();
  v1::ControllerMessage welcome = Welcome();
  v1::LogAck* has = welcome.mutable_welcome()->add_logs();
  has->set_attempt_id(5);
  has->set_bytes(7);
  controller_.Say(welcome);
  const v1::AgentMessage rest = controller_.Next();
  EXPECT_EQ(rest.log().offset(), 7u);
  EXPECT_EQ(rest.log().data(), "789");
  // Bytes that come later travel at once.
  folder_.Write("log", "0123456789ab");
  logs_.Grew(5, 12);
  EXPECT_EQ(controller_.Next().log().data(), "ab");
}

}  // namespace
}  // namespace pyptox::agent
