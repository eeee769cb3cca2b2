// One agent's stream, at the controller's end.
#ifndef PYPTOX_CONTROLLER_RPC_AGENT_SESSION_H_
#define PYPTOX_CONTROLLER_RPC_AGENT_SESSION_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/blob_store.h"
#include "controller/rpc/attempt_logs.h"
#include "controller/rpc/core_gateway.h"
#include "controller/rpc/stream_slots.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::controller {

// What a session works on. All outlive it.
struct AgentSessionPorts {
  CoreGateway* core;
  AttemptLogs* logs;
  BlobStore* blobs;
};

// Reads one message at a time: log bytes go to the logs, everything else to the core. Writes one at a time out of a
// bounded outbox. Owns itself until gRPC calls OnDone; the loop may hold it longer, but then it is only a husk.
class AgentSession final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ControllerMessage>,
                           public AgentSink,
                           public std::enable_shared_from_this<AgentSession> {
 public:
  // Most messages, and most bytes of them, that may wait for a slow agent.
  static constexpr size_t kMaxOutboxMessages = 1024;
  static constexpr size_t kMaxOutboxBytes = 32 << 20;

  // Starts reading. Without a slot the stream ends with RESOURCE_EXHAUSTED.
  static AgentSession* Start(const AgentSessionPorts& ports, StreamSlots::Slot slot,
                             grpc::CallbackServerContext* context);

  void Send(v1::ControllerMessage message) override;
  void Close(absl::Status status) override;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone() override;

 private:
  AgentSession(const AgentSessionPorts& ports, StreamSlots::Slot slot, grpc::CallbackServerContext* context)
      : ports_(ports), slot_(std::move(slot)), context_(context) {}

  absl::Status Handle(v1::AgentMessage message);
  absl::Status HandleHello(v1::Hello hello);
  absl::Status HandleLog(const v1::LogChunk& chunk);
  absl::Status HandleFinished(v1::AgentMessage message);
  // Takes the next message to write into `writing_`; false when there is none. Needs mutex_.
  bool TakeNext();

  const AgentSessionPorts ports_;
  StreamSlots::Slot slot_;
  grpc::CallbackServerContext* const context_;
  std::shared_ptr<AgentSession> self_;

  // Used by the reading side only: reads never overlap.
  v1::AgentMessage incoming_;
  std::string agent_;
  std::optional<uint64_t> session_;

  std::mutex mutex_;
  std::deque<v1::ControllerMessage> outbox_;
  size_t outbox_bytes_ = 0;
  // Newest acknowledgement by attempt: many become one.
  std::map<uint64_t, uint64_t> log_acks_;
  v1::ControllerMessage writing_;
  bool is_writing_ = false;
  // Set once the stream shall end; then nothing is written any more.
  std::optional<absl::Status> end_;
  bool finished_ = false;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_AGENT_SESSION_H_
