#include "controller/rpc/agent_session.h"

#include <vector>

#include "base/link_settings.h"
#include "gmock/gmock.h"
#include "tests/unit/controller/rpc/rpc_house.h"

namespace pyptox::controller {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;

// One stream of a scripted agent.
struct Link {
  explicit Link(const std::shared_ptr<grpc::Channel>& channel)
      : stub(v1::AgentLink::NewStub(channel)), stream(stub->Connect(&context)) {}
  ~Link() { context.TryCancel(); }
  void Hello(const std::string& agent) {
    v1::AgentMessage message;
    message.mutable_hello()->set_agent(agent);
    ASSERT_TRUE(stream->Write(message));
  }
  v1::ControllerMessage Read() {
    v1::ControllerMessage message;
    EXPECT_TRUE(stream->Read(&message));
    return message;
  }
  // What the controller ends the stream with.
  grpc::Status End() {
    v1::ControllerMessage message;
    while (stream->Read(&message)) {
    }
    return stream->Finish();
  }

  grpc::ClientContext context;
  std::unique_ptr<v1::AgentLink::Stub> stub;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ControllerMessage>> stream;
};

class AgentSessionTest : public RpcHouse {
 protected:
  v1::AgentMessage Log(uint64_t offset, const std::string& data) {
    v1::AgentMessage message;
    message.mutable_log()->set_attempt_id(1);
    message.mutable_log()->set_offset(offset);
    message.mutable_log()->set_data(data);
    return message;
  }
  std::shared_ptr<AgentSink> Sink(uint64_t session) {
    std::lock_guard lock(core_.mutex);
    return core_.sinks[session];
  }
};

TEST_F(AgentSessionTest, WelcomesAndPassesMessagesOn) {
  Link link(channel_);
  link.Hello("a");
  EXPECT_EQ(link.Read().welcome().heartbeat_ms(), 2000u);
  v1::AgentMessage message;
  message.mutable_heartbeat()->set_sequence(9);
  ASSERT_TRUE(link.stream->Write(message));
  core_.WaitFor([](const FakeCore& core) { return core.messages.size() == 1; });
  EXPECT_EQ(core_.messages[0].heartbeat().sequence(), 9u);
  link.stream->WritesDone();
  EXPECT_TRUE(link.End().ok());
  core_.WaitFor([](const FakeCore& core) { return core.closed == std::vector<uint64_t>{1}; });
}

TEST_F(AgentSessionTest, WantsHelloFirstAndOnce) {
  Link early(channel_);
  ASSERT_TRUE(early.stream->Write(Log(0, "x")));
  EXPECT_EQ(early.End().error_code(), StatusCode::INVALID_ARGUMENT);
  Link twice(channel_);
  twice.Hello("a");
  twice.Hello("a");
  EXPECT_EQ(twice.End().error_code(), StatusCode::INVALID_ARGUMENT);
  Link named(channel_);
  named.Hello("../a");
  EXPECT_EQ(named.End().error_code(), StatusCode::INVALID_ARGUMENT);
  Link empty(channel_);
  empty.Hello("a");
  ASSERT_TRUE(empty.stream->Write(v1::AgentMessage()));
  EXPECT_EQ(empty.End().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(AgentSessionTest, TheCoreMayRefuseAndEnd) {
  Link link(channel_);
  link.Hello("a");
  link.Read();
  Sink(1)->Close(absl::FailedPreconditionError("a newer session"));
  const grpc::Status status = link.End();
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "a newer session");
  // The loop may keep a sink longer than its stream lives.
  Sink(1)->Send(v1::ControllerMessage());
  Sink(1)->Close(absl::OkStatus());
}

TEST_F(AgentSessionTest, AcknowledgesDurableLogBytes) {
  Link link(channel_);
  link.Hello("a");
  link.Read();
  const std::string chunk(kMaxChunkBytes, 'x');
  ASSERT_TRUE(link.stream->Write(Log(0, chunk)));
  EXPECT_EQ(link.Read().log_ack().bytes(), chunk.size());
  ASSERT_TRUE(link.stream->Write(Log(chunk.size(), "y")));
  EXPECT_EQ(link.Read().log_ack().bytes(), chunk.size() + 1);
  EXPECT_TRUE(logs_.logs[1] == chunk + "y");
  ASSERT_TRUE(link.stream->Write(Log(chunk.size() + 2, "gap")));
  EXPECT_EQ(link.End().error_code(), StatusCode::OUT_OF_RANGE);
}

TEST_F(AgentSessionTest, RefusesAChunkPastTheCap) {
  Link link(channel_);
  link.Hello("a");
  ASSERT_TRUE(link.stream->Write(Log(0, std::string(kMaxChunkBytes + 1, 'x'))));
  EXPECT_EQ(link.End().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(AgentSessionTest, AsksForMissingArtifactsItself) {
  Link link(channel_);
  link.Hello("a");
  link.Read();
  v1::AgentMessage message;
  message.mutable_finished()->set_attempt_id(4);
  const std::string missing = Sha256Of("late").Hex();
  message.mutable_finished()->mutable_evidence()->add_artifacts()->set_sha256(missing);
  ASSERT_TRUE(link.stream->Write(message));
  const v1::ControllerMessage answer = link.Read();
  EXPECT_EQ(answer.finished_ack().attempt_id(), 4u);
  EXPECT_THAT(answer.finished_ack().missing_sha256(), ElementsAre(missing));
  ASSERT_TRUE(blobs_->Put("late").ok());
  ASSERT_TRUE(link.stream->Write(message));
  core_.WaitFor([](const FakeCore& core) { return core.messages.size() == 1; });
  EXPECT_TRUE(core_.messages[0].has_finished());
}

TEST_F(AgentSessionTest, CutsAnAgentThatDoesNotRead) {
  Link link(channel_);
  link.Hello("a");
  core_.WaitFor([](const FakeCore& core) { return core.sinks.size() == 1; });
  const auto sink = Sink(1);
  v1::ControllerMessage large;
  large.mutable_cancel()->set_reason(std::string(1 << 20, 'x'));
  for (int i = 0; i < 100; ++i) sink->Send(large);
  core_.WaitFor([](const FakeCore& core) { return core.closed.size() == 1; });
  EXPECT_FALSE(link.End().ok());
}

TEST_F(AgentSessionTest, AFullQueueEndsTheStream) {
  Link link(channel_);
  link.Hello("a");
  link.Read();
  {
    std::lock_guard lock(core_.mutex);
    core_.answer = absl::ResourceExhaustedError("the queue is full");
  }
  v1::AgentMessage message;
  message.mutable_started()->set_attempt_id(1);
  ASSERT_TRUE(link.stream->Write(message));
  EXPECT_EQ(link.End().error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(AgentSessionTest, StreamsOfOnePeerAreCapped) {
  std::vector<std::unique_ptr<Link>> links;
  for (int i = 0; i < kMaxStreamsPerIdentity; ++i) {
    links.push_back(std::make_unique<Link>(channel_));
    links.back()->Hello("a");
    links.back()->Read();
  }
  EXPECT_EQ(Link(channel_).End().error_code(), StatusCode::RESOURCE_EXHAUSTED);
  links.pop_back();
  core_.WaitFor([](const FakeCore& core) { return core.closed.size() == 1; });
}

}  // namespace
}  // namespace pyptox::controller
