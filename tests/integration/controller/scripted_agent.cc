#include "tests/integration/controller/scripted_agent.h"

#include <utility>

#include "gtest/gtest.h"

namespace pyptox::controller {

ScriptedAgent::ScriptedAgent(std::shared_ptr<grpc::Channel> channel, const std::string& name, uint64_t epoch,
                             const std::vector<v1::ObservedAttempt>& attempts, const std::string& resource)
    : channel_(std::move(channel)), stub_(v1::AgentLink::NewStub(channel_)), stream_(stub_->Connect(&context_)) {
  v1::AgentMessage message;
  v1::Hello* hello = message.mutable_hello();
  hello->set_agent(name);
  hello->set_journal_id("0123456789abcdef0123456789abcdef");
  hello->set_epoch(epoch);
  hello->set_version("test");
  v1::Resource* added = hello->add_resources();
  added->set_name(resource);
  added->set_backend("cpu");
  hello->mutable_attempts()->Assign(attempts.begin(), attempts.end());
  stream_->Write(message);
  welcome_ = WaitFor(v1::ControllerMessage::kWelcome).welcome();
}

ScriptedAgent::~ScriptedAgent() { context_.TryCancel(); }

v1::Assign ScriptedAgent::WaitForAssign() {
  if (next_assigned_ < welcome_.assigned_size()) return welcome_.assigned(next_assigned_++);
  return WaitFor(v1::ControllerMessage::kAssign).assign();
}

v1::ControllerMessage ScriptedAgent::WaitFor(v1::ControllerMessage::BodyCase kind) {
  v1::ControllerMessage message;
  while (stream_->Read(&message)) {
    if (message.body_case() == kind) return message;
  }
  return v1::ControllerMessage();
}

bool ScriptedAgent::Write(const v1::AgentMessage& message) { return stream_->Write(message); }

void ScriptedAgent::Started(const v1::Assign& assign) {
  v1::AgentMessage message;
  message.mutable_started()->set_attempt_id(assign.attempt_id());
  EXPECT_TRUE(Write(message));
}

void ScriptedAgent::Log(const v1::Assign& assign, uint64_t offset, const std::string& data) {
  v1::AgentMessage message;
  message.mutable_log()->set_attempt_id(assign.attempt_id());
  message.mutable_log()->set_offset(offset);
  message.mutable_log()->set_data(data);
  EXPECT_TRUE(Write(message));
  uint64_t durable = 0;
  while (durable < offset + data.size()) {
    const v1::ControllerMessage answer = WaitFor(v1::ControllerMessage::kLogAck);
    ASSERT_TRUE(answer.has_log_ack()) << "the stream ended";
    durable = answer.log_ack().bytes();
  }
}

v1::FinishedAck ScriptedAgent::Finished(const v1::Assign& assign, const v1::Evidence& evidence) {
  v1::AgentMessage message;
  v1::AttemptFinished* finished = message.mutable_finished();
  finished->set_attempt_id(assign.attempt_id());
  *finished->mutable_locks() = assign.locks();
  *finished->mutable_evidence() = evidence;
  EXPECT_TRUE(Write(message));
  return WaitFor(v1::ControllerMessage::kFinishedAck).finished_ack();
}

grpc::Status ScriptedAgent::End() {
  v1::ControllerMessage message;
  while (stream_->Read(&message)) {
  }
  return stream_->Finish();
}

}  // namespace pyptox::controller
