// An agent that does what a test tells it, over a real stream.
#ifndef PYPTOX_TESTS_INTEGRATION_CONTROLLER_SCRIPTED_AGENT_H_
#define PYPTOX_TESTS_INTEGRATION_CONTROLLER_SCRIPTED_AGENT_H_

#include <memory>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "pyptox/v1/agent.grpc.pb.h"

namespace pyptox::controller {

class ScriptedAgent {
 public:
  // Connects and says Hello with one resource `dev` of backend `cpu`.
  ScriptedAgent(std::shared_ptr<grpc::Channel> channel, const std::string& name, uint64_t epoch,
                const std::vector<v1::ObservedAttempt>& attempts = {}, const std::string& resource = "dev");
  // Drops the connection.
  ~ScriptedAgent();

  const v1::Welcome& welcome() const { return welcome_; }
  // The assignment that Welcome or a later message brings.
  v1::Assign WaitForAssign();
  // Reads up to the first message of this kind; the kind's default when the stream ends.
  v1::ControllerMessage WaitFor(v1::ControllerMessage::BodyCase kind);
  bool Write(const v1::AgentMessage& message);
  void Started(const v1::Assign& assign);
  // Sends a chunk and waits until it is durable.
  void Log(const v1::Assign& assign, uint64_t offset, const std::string& data);
  // Sends a result and returns the answer.
  v1::FinishedAck Finished(const v1::Assign& assign, const v1::Evidence& evidence);
  // How the controller ended the stream.
  grpc::Status End();

 private:
  grpc::ClientContext context_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::AgentLink::Stub> stub_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ControllerMessage>> stream_;
  v1::Welcome welcome_;
  int next_assigned_ = 0;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_TESTS_INTEGRATION_CONTROLLER_SCRIPTED_AGENT_H_
