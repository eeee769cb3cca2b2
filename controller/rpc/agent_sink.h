// The controller's end of one agent connection, as the loop sees it.
#ifndef PYPTOX_CONTROLLER_RPC_AGENT_SINK_H_
#define PYPTOX_CONTROLLER_RPC_AGENT_SINK_H_

#include "absl/status/status.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::controller {

// Thread safe and never blocks. After the stream ended both calls do nothing.
class AgentSink {
 public:
  virtual ~AgentSink() = default;
  // Queues a message. An agent that lets too much pile up is cut off.
  virtual void Send(v1::ControllerMessage message) = 0;
  // Ends the stream with this status. Messages not yet written are lost: the next connect repeats what matters.
  virtual void Close(absl::Status status) = 0;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_AGENT_SINK_H_
