// What the services need from the controller's loop. The runtime implements it; a test may too.
#ifndef PYPTOX_CONTROLLER_RPC_CORE_GATEWAY_H_
#define PYPTOX_CONTROLLER_RPC_CORE_GATEWAY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/rpc/agent_sink.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::controller {

// Thread safe. Every error may also be RESOURCE_EXHAUSTED (the queue is full: try again later) or UNAVAILABLE (the
// controller stops).
class CoreGateway {
 public:
  virtual ~CoreGateway() = default;

  // Questions of clients. Each waits until the loop has answered, which is after what it promises is durable.
  virtual absl::StatusOr<v1::SubmitResponse> Submit(v1::SubmitRequest request) = 0;
  virtual absl::StatusOr<v1::Job> CancelJob(uint64_t job_id, const std::string& reason) = 0;
  virtual absl::StatusOr<v1::Job> RetryJob(uint64_t job_id) = 0;
  virtual absl::StatusOr<v1::ExplainJobResponse> ExplainJob(uint64_t job_id) = 0;
  virtual absl::StatusOr<v1::Resource> OrderResource(const v1::OrderResourceRequest& request) = 0;

  // News from agents. These only post: the answers come through the sink. Returns the session's number.
  virtual absl::StatusOr<uint64_t> OpenSession(v1::Hello hello, std::shared_ptr<AgentSink> sink) = 0;
  virtual absl::Status PostFromAgent(uint64_t session, v1::AgentMessage message) = 0;
  // The stream ended. Never fails: a session whose end is not heard of is found silent later.
  virtual void CloseSession(uint64_t session) = 0;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_CORE_GATEWAY_H_
