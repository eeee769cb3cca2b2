// The service that agents connect to.
#ifndef PYPTOX_CONTROLLER_RPC_AGENT_LINK_SERVICE_H_
#define PYPTOX_CONTROLLER_RPC_AGENT_LINK_SERVICE_H_

#include "base/blob_store.h"
#include "controller/rpc/attempt_logs.h"
#include "controller/rpc/core_gateway.h"
#include "controller/rpc/stream_slots.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/agent.grpc.pb.h"

namespace pyptox::controller {

// All arguments outlive the service and its streams.
class AgentLinkService final : public v1::AgentLink::CallbackService {
 public:
  AgentLinkService(CoreGateway* core, AttemptLogs* logs, BlobStore* blobs, StreamSlots* slots)
      : core_(core), logs_(logs), blobs_(blobs), slots_(slots) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ControllerMessage>* Connect(
      grpc::CallbackServerContext* context) override;

 private:
  CoreGateway* const core_;
  AttemptLogs* const logs_;
  BlobStore* const blobs_;
  StreamSlots* const slots_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_AGENT_LINK_SERVICE_H_
