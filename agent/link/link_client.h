// The agent's end of the stream to its controller: connects, connects again, and carries messages. It decides nothing.
#ifndef PYPTOX_AGENT_LINK_LINK_CLIENT_H_
#define PYPTOX_AGENT_LINK_LINK_CLIENT_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "agent/link/log_sender.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/agent.grpc.pb.h"

namespace pyptox::agent {

// Called on the client's own thread, one at a time: up, then said any number of times, then down, for each link. Link
// numbers grow.
struct LinkEvents {
  std::function<void(uint64_t link)> up;
  // All but log acknowledgements.
  std::function<void(uint64_t link, v1::ControllerMessage message)> said;
  std::function<void(uint64_t link, const absl::Status& why)> down;
  // Between a down, or the start, and the next up, once: nobody answers at this address; it goes on trying. May be
  // empty.
  std::function<void(const std::string& target)> unreachable;
};

class LinkClient {
 public:
  // `logs` outlives it.
  LinkClient(const std::string& target, LogSender* logs, LinkEvents events);
  // Stops.
  ~LinkClient();

  void Start();
  // Ends the stream and waits for the last `down`. Nothing is sent afterwards.
  void Stop();
  // Queues a message for this link, in order; dropped when that link is not open any more. A result waits until its
  // attempt's log is sent.
  void Send(uint64_t link, v1::AgentMessage message);
  bool IsOpen(uint64_t link);
  // Ends this link, if it is still open; another one follows.
  void Drop(uint64_t link);

 private:
  using Stream = grpc::ClientReaderWriter<v1::AgentMessage, v1::ControllerMessage>;

  void Run();
  // One stream from open to end. True when the controller welcomed this agent.
  bool RunStream(uint64_t link);
  void Write(uint64_t link, Stream* stream);
  bool WriteResult(Stream* stream, const v1::AgentMessage& message);
  bool WaitUntilConnected();
  // Waits between two tries. False when the client shall stop.
  bool Pause(int milliseconds);
  void Wake();

  const std::string target_;
  const std::shared_ptr<grpc::Channel> channel_;
  LogSender* const logs_;
  const LinkEvents events_;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  // The open link, 0 without, and its context.
  uint64_t link_ = 0;
  std::unique_ptr<grpc::ClientContext> context_;
  std::deque<v1::AgentMessage> outbox_;
  // The writer of the open link has not returned.
  bool writing_ = false;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_LINK_CLIENT_H_
