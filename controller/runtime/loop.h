// The one thread that decides: takes events in batches, Steps the core, commits once, and only then answers and sends.
#ifndef PYPTOX_CONTROLLER_RUNTIME_LOOP_H_
#define PYPTOX_CONTROLLER_RUNTIME_LOOP_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "controller/core/effect.h"
#include "controller/core/event.h"
#include "controller/core/recover.h"
#include "controller/core/state.h"
#include "controller/rpc/core_gateway.h"
#include "controller/runtime/job_board.h"
#include "controller/runtime/log_files.h"
#include "controller/runtime/reply_table.h"

namespace pyptox::controller {

// What the loop works on. All outlive it; all but `spec_of` are used by the loop's thread only.
struct LoopPorts {
  // Makes all writes durable in one transaction, in order.
  std::function<absl::Status(const std::vector<Write>&)> commit;
  // The stored spec of a job; an empty one when there is none. Called by callers of RetryJob.
  std::function<absl::StatusOr<v1::JobSpec>(uint64_t job_id)> spec_of;
  // Something that was or would be promised may be lost: the process must end. The loop does nothing after it.
  std::function<void(const absl::Status&)> on_fatal;
  LogFiles* logs;
  JobBoard* board;
};

// Waiting events at most; then callers hear RESOURCE_EXHAUSTED.
inline constexpr size_t kLoopQueueCapacity = 4096;

class Loop final : public CoreGateway {
 public:
  // Performs `start.effects` on the new thread before any event.
  Loop(Start start, LoopPorts ports, size_t queue_capacity = kLoopQueueCapacity);
  // Takes no more events, handles those that are queued, and stops.
  ~Loop() override;

  absl::StatusOr<v1::SubmitResponse> Submit(v1::SubmitRequest request) override;
  absl::StatusOr<v1::Job> CancelJob(uint64_t job_id, const std::string& reason) override;
  absl::StatusOr<v1::Job> RetryJob(uint64_t job_id) override;
  absl::StatusOr<v1::ExplainJobResponse> ExplainJob(uint64_t job_id) override;
  absl::StatusOr<v1::Resource> OrderResource(const v1::OrderResourceRequest& request) override;
  absl::StatusOr<uint64_t> OpenSession(v1::Hello hello, std::shared_ptr<AgentSink> sink) override;
  absl::Status PostFromAgent(uint64_t session, v1::AgentMessage message) override;
  void CloseSession(uint64_t session) override;

 private:
  absl::Status Post(Event event);
  // Posts the event that `make` builds for a request number, and waits for its answer.
  template <typename Message, typename MakeEvent>
  absl::StatusOr<Message> Ask(const MakeEvent& make);

  void Run(Effects effects);
  // How long the next batch may be waited for.
  Duration WaitForBatch() const;
  void StepBatch(const std::vector<Event>& batch, Effects& effects);
  // Commits, then acts. False after a fatal error.
  bool Handle(Effects effects);
  // Opens and closes logs as attempts come and go.
  absl::Status FollowAttempts(const std::vector<Write>& writes);
  void Act(Action action);
  void AddLogs(uint64_t session, v1::Welcome& welcome);
  std::shared_ptr<AgentSink> SinkOf(uint64_t session);

  const LoopPorts ports_;
  BoundedQueue<Event> queue_;
  ReplyTable replies_;

  std::mutex sessions_mutex_;
  uint64_t last_session_ = 0;
  std::map<uint64_t, std::shared_ptr<AgentSink>> sessions_;

  // The loop's thread only.
  State state_;
  MonoTime last_tick_;

  std::thread thread_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_LOOP_H_
