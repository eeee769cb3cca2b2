#include "controller/runtime/loop.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/step.h"

namespace pyptox::controller {
namespace {

// Events of one commit at most.
constexpr size_t kMaxBatch = 256;
constexpr Duration kTickEvery = Seconds(1);
// Deadlines of the core are met this exactly.
constexpr Duration kMinTickGap = Milliseconds(10);

void Append(Effects& to, Effects from) {
  std::move(from.writes.begin(), from.writes.end(), std::back_inserter(to.writes));
  std::move(from.actions.begin(), from.actions.end(), std::back_inserter(to.actions));
}

absl::Status Stopping() { return absl::UnavailableError("the controller stops"); }

}  // namespace

Loop::Loop(Start start, LoopPorts ports, size_t queue_capacity)
    : ports_(std::move(ports)),
      queue_(queue_capacity),
      state_(std::move(start.state)),
      thread_([this, effects = std::move(start.effects)]() mutable { Run(std::move(effects)); }) {}

Loop::~Loop() {
  queue_.Close();
  thread_.join();
}

absl::Status Loop::Post(Event event) {
  if (queue_.TryPush(std::move(event))) return absl::OkStatus();
  if (queue_.closed()) return Stopping();
  return absl::ResourceExhaustedError("the controller's queue is full; try again later");
}

template <typename Message, typename MakeEvent>
absl::StatusOr<Message> Loop::Ask(const MakeEvent& make) {
  auto [id, future] = replies_.Open();
  if (auto status = Post(make(id)); !status.ok()) replies_.Answer({id, status, {}});
  Reply reply = future.get();
  if (!reply.status.ok()) return reply.status;
  if (auto* message = std::get_if<Message>(&reply.message)) return std::move(*message);
  return absl::InternalError("the core's answer is of another type");
}

absl::StatusOr<v1::SubmitResponse> Loop::Submit(v1::SubmitRequest request) {
  const std::string submitter = request.submitter();
  return Ask<v1::SubmitResponse>([&](uint64_t id) -> Event {
    return controller::Submit{id, std::move(request), submitter};
  });
}

absl::StatusOr<v1::Job> Loop::CancelJob(uint64_t job_id, const std::string& reason) {
  return Ask<v1::Job>([&](uint64_t id) -> Event { return Cancel{id, job_id, reason}; });
}

absl::StatusOr<v1::Job> Loop::RetryJob(uint64_t job_id) {
  auto spec = ports_.spec_of(job_id);
  if (!spec.ok()) return spec.status();
  return Ask<v1::Job>([&](uint64_t id) -> Event { return Retry{id, job_id, *std::move(spec)}; });
}

absl::StatusOr<v1::ExplainJobResponse> Loop::ExplainJob(uint64_t job_id) {
  return Ask<v1::ExplainJobResponse>([&](uint64_t id) -> Event { return Explain{id, job_id}; });
}

absl::StatusOr<v1::Resource> Loop::OrderResource(const v1::OrderResourceRequest& request) {
  return Ask<v1::Resource>([&](uint64_t id) -> Event { return controller::OrderResource{id, request}; });
}

absl::StatusOr<uint64_t> Loop::OpenSession(v1::Hello hello, std::shared_ptr<AgentSink> sink) {
  // Numbers enter the queue in their order.
  std::lock_guard lock(sessions_mutex_);
  const uint64_t session = ++last_session_;
  sessions_[session] = std::move(sink);
  const absl::Status status = Post(AgentHello{session, std::move(hello)});
  if (status.ok()) return session;
  sessions_.erase(session);
  return status;
}

absl::Status Loop::PostFromAgent(uint64_t session, v1::AgentMessage message) {
  return Post(AgentSaid{session, std::move(message)});
}

void Loop::CloseSession(uint64_t session) {
  {
    std::lock_guard lock(sessions_mutex_);
    sessions_.erase(session);
  }
  // When the queue is full, the silence of the session says the same a little later.
  (void)Post(AgentGone{session});
}

void Loop::Run(Effects effects) {
  absl::Status logs_status;
  for (const auto& [id, live] : state_.attempts) {
    if (logs_status.ok()) logs_status = ports_.logs->Begin(id, live.attempt.agent());
  }
  if (!logs_status.ok()) ports_.on_fatal(logs_status);
  bool good = logs_status.ok() && Handle(std::move(effects));
  last_tick_ = ReadClocks().mono;
  while (good) {
    const std::vector<Event> batch = queue_.PopBatch(kMaxBatch, WaitForBatch());
    if (batch.empty() && queue_.closed()) break;
    Effects next;
    StepBatch(batch, next);
    good = Handle(std::move(next));
  }
  queue_.Close();
  replies_.Close(Stopping());
}

Duration Loop::WaitForBatch() const {
  const MonoTime wanted = std::max(NextDeadline(state_), last_tick_ + kMinTickGap);
  return std::max(std::min(wanted, last_tick_ + kTickEvery) - ReadClocks().mono, Duration{});
}

void Loop::StepBatch(const std::vector<Event>& batch, Effects& effects) {
  for (const Event& event : batch) Append(effects, Step(state_, event, ReadClocks()));
  if (WaitForBatch() > Duration{}) return;
  const Now now = ReadClocks();
  last_tick_ = now.mono;
  Append(effects, Step(state_, Tick{}, now));
}

bool Loop::Handle(Effects effects) {
  absl::Status status;
  if (!effects.writes.empty()) status = ports_.commit(effects.writes);
  if (status.ok()) status = FollowAttempts(effects.writes);
  if (!status.ok()) {
    ports_.on_fatal(status);
    return false;
  }
  for (Action& action : effects.actions) Act(std::move(action));
  return true;
}

absl::Status Loop::FollowAttempts(const std::vector<Write>& writes) {
  for (const Write& write : writes) {
    const auto* put = std::get_if<PutAttempt>(&write);
    if (put == nullptr) continue;
    if (put->attempt.state() == v1::ATTEMPT_STATE_ENDED) {
      ports_.logs->End(put->attempt.id());
    } else if (auto status = ports_.logs->Begin(put->attempt.id(), put->attempt.agent()); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

void Loop::Act(Action action) {
  if (auto* reply = std::get_if<Reply>(&action)) {
    replies_.Answer(std::move(*reply));
  } else if (auto* send = std::get_if<Send>(&action)) {
    const auto sink = SinkOf(send->session_id);
    if (!sink) return;
    if (send->message.has_welcome()) AddLogs(send->session_id, *send->message.mutable_welcome());
    sink->Send(std::move(send->message));
  } else if (auto* close = std::get_if<controller::CloseSession>(&action)) {
    if (const auto sink = SinkOf(close->session_id)) sink->Close(close->status);
  } else if (auto* changed = std::get_if<JobChanged>(&action)) {
    ports_.board->Publish(changed->job);
  }
}

void Loop::AddLogs(uint64_t session, v1::Welcome& welcome) {
  const auto agent = state_.sessions.find(session);
  if (agent == state_.sessions.end()) return;
  // Of finished attempts too: their last bytes may still be on the agent's side.
  for (const auto& [id, live] : state_.attempts) {
    if (live.attempt.agent() != agent->second) continue;
    v1::LogAck* log = welcome.add_logs();
    log->set_attempt_id(id);
    log->set_bytes(ports_.logs->DurableBytes(id));
  }
}

std::shared_ptr<AgentSink> Loop::SinkOf(uint64_t session) {
  std::lock_guard lock(sessions_mutex_);
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? nullptr : found->second;
}

}  // namespace pyptox::controller
