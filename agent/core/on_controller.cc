#include "agent/core/on_controller.h"

#include <set>
#include <utility>

namespace pyptox::agent {
namespace {

v1::ObservedState Observed(Phase phase) {
  switch (phase) {
    case Phase::kWaiting:
    case Phase::kRunning:
      return v1::OBSERVED_STATE_RUNNING;
    case Phase::kFinished:
      return v1::OBSERVED_STATE_FINISHED;
    case Phase::kInterrupted:
      return v1::OBSERVED_STATE_INTERRUPTED;
  }
  return v1::OBSERVED_STATE_UNSPECIFIED;
}

void ForgetIfKnown(Turn& turn, uint64_t attempt_id, const char* reason) {
  if (turn.state.attempts.contains(attempt_id)) Forget(turn, attempt_id, reason);
}

void OnWelcome(Turn& turn, const v1::Welcome& welcome) {
  State& state = turn.state;
  if (std::exchange(state.welcomed, true)) return;
  state.heartbeats = 0;
  state.next_heartbeat = turn.now.mono;
  if (welcome.heartbeat_ms() > 0) state.heartbeat_interval = Milliseconds(welcome.heartbeat_ms());
  for (const uint64_t id : welcome.forget()) ForgetIfKnown(turn, id, "the controller wants it forgotten");
  std::set<uint64_t> wanted;
  for (const v1::Assign& assign : welcome.assigned()) wanted.insert(assign.attempt_id());
  std::set<uint64_t> given_up;
  for (const auto& [id, entry] : state.attempts) {
    const bool active = entry.phase == Phase::kWaiting || entry.phase == Phase::kRunning;
    if (active && !wanted.contains(id)) given_up.insert(id);
  }
  for (const uint64_t id : given_up) Forget(turn, id, "the controller has given it up");
  for (const v1::Assign& assign : welcome.assigned()) {
    if (assign.has_spec()) Accept(turn, assign);
  }
  for (auto& [id, entry] : state.attempts) {
    if (entry.unwanted) continue;
    if (entry.phase == Phase::kRunning && entry.began) SayStarted(turn, id);
    if (entry.phase == Phase::kRunning && entry.progress_unsent) SayProgress(turn, id, entry);
    if (entry.phase == Phase::kFinished) SayFinished(turn, entry);
  }
}

void OnCancel(Turn& turn, const v1::CancelAttempt& cancel) {
  const auto found = turn.state.attempts.find(cancel.attempt_id());
  if (found == turn.state.attempts.end()) return;
  if (found->second.phase == Phase::kRunning) {
    turn.effects.actions.push_back(KillAttempt{cancel.attempt_id(), cancel.reason()});
  } else if (found->second.phase == Phase::kWaiting) {
    v1::Evidence evidence;
    evidence.mutable_outcome()->set_verdict(v1::VERDICT_CANCELLED);
    evidence.mutable_outcome()->set_reason(cancel.reason());
    Finish(turn, cancel.attempt_id(), std::move(evidence));
  }
}

void OnFinishedAck(Turn& turn, const v1::FinishedAck& ack) {
  const auto found = turn.state.attempts.find(ack.attempt_id());
  if (found == turn.state.attempts.end() || found->second.phase != Phase::kFinished) return;
  if (ack.missing_sha256().empty()) {
    Forget(turn, ack.attempt_id(), "its result is stored");
  } else {
    turn.effects.actions.push_back(
        UploadThenResend{ack.attempt_id(), {ack.missing_sha256().begin(), ack.missing_sha256().end()}});
  }
}

}  // namespace

v1::AgentMessage HelloMessage(const State& state, const std::vector<v1::Resource>& resources, Now now) {
  v1::AgentMessage message;
  v1::Hello& hello = *message.mutable_hello();
  hello.set_agent(state.agent);
  hello.set_journal_id(state.journal_id);
  hello.set_epoch(state.epoch);
  hello.set_version(state.version);
  *hello.mutable_resources() = {resources.begin(), resources.end()};
  hello.set_clock_ns(now.wall.unix_ns);
  for (const auto& [id, entry] : state.attempts) {
    if (entry.unwanted) continue;
    v1::ObservedAttempt& observed = *hello.add_attempts();
    observed.set_attempt_id(id);
    observed.set_state(Observed(entry.phase));
    *observed.mutable_locks() = entry.assign.locks();
  }
  return message;
}

void OnControllerMessage(Turn& turn, const v1::ControllerMessage& message) {
  turn.state.last_heard = turn.now.mono;
  if (message.has_welcome()) return OnWelcome(turn, message.welcome());
  if (!turn.state.welcomed) return;  // Welcome comes first
  if (message.has_assign()) return Accept(turn, message.assign());
  if (message.has_cancel()) return OnCancel(turn, message.cancel());
  if (message.has_finished_ack()) return OnFinishedAck(turn, message.finished_ack());
  // Acknowledged heartbeats are only heard; those of logs are for the shell.
}

}  // namespace pyptox::agent
