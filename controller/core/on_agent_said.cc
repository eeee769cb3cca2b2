#include <fmt/format.h>

#include "controller/core/attempt_end.h"
#include "controller/core/handlers.h"
#include "controller/core/held_locks.h"
#include "controller/core/scheduling.h"
#include "matrix/verdict.h"

namespace pyptox::controller {
namespace {

// The attempt when it is live, was given to `agent`, and so can be spoken for by it. It is alive then: its leases are
// renewed.
LiveAttempt* SpokenFor(Turn& turn, uint64_t attempt_id, const std::string& agent) {
  const auto found = turn.state.attempts.find(attempt_id);
  if (found == turn.state.attempts.end() || found->second.attempt.agent() != agent) return nullptr;
  turn.state.leases.Renew(found->second.attempt.job_id(), turn.now.mono);
  return &found->second;
}

void OnHeartbeat(Turn& turn, uint64_t session, const std::string& agent, const v1::Heartbeat& heartbeat) {
  v1::ControllerMessage answer;
  answer.mutable_heartbeat_ack()->set_sequence(heartbeat.sequence());
  turn.SendTo(session, answer);
  for (const uint64_t id : heartbeat.attempt_ids()) {
    if (const LiveAttempt* live = SpokenFor(turn, id, agent)) {
      const JobEntry& entry = turn.state.jobs.at(live->attempt.job_id());
      if (entry.job.state() == v1::JOB_STATE_CANCELLING) turn.SendTo(session, CancelMessage(entry));
      continue;
    }
    v1::ControllerMessage message;
    if (HasResult(turn.state, id)) {
      message.mutable_finished_ack()->set_attempt_id(id);
    } else {
      message.mutable_cancel()->set_attempt_id(id);
      message.mutable_cancel()->set_reason("the controller has given this attempt up");
    }
    turn.SendTo(session, message);
  }
}

void OnStarted(Turn& turn, const std::string& agent, const v1::AttemptStarted& started) {
  LiveAttempt* live = SpokenFor(turn, started.attempt_id(), agent);
  if (!live || live->attempt.state() == v1::ATTEMPT_STATE_RUNNING) return;
  live->attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
  live->backstop = turn.now.mono + RunLimit(turn.state.jobs.at(live->attempt.job_id())) + kRunBackstop;
  turn.effects.writes.push_back(PutAttempt{live->attempt});
}

void OnProgress(Turn& turn, const std::string& agent, const v1::AttemptProgress& progress) {
  const LiveAttempt* live = SpokenFor(turn, progress.attempt_id(), agent);
  if (!live) return;
  JobEntry& entry = turn.state.jobs.at(live->attempt.job_id());
  *entry.job.mutable_progress() = progress.progress();
  turn.Save(entry);
}

// Why the result can't be taken as that of its attempt; empty when it can.
std::string WhyOrphan(Turn& turn, const std::string& agent, const v1::AttemptFinished& finished) {
  const uint64_t id = finished.attempt_id();
  const auto found = turn.state.attempts.find(id);
  if (found == turn.state.attempts.end()) {
    return turn.state.ended.contains(id) ? fmt::format("attempt {} was lost before its result came", id)
                                         : fmt::format("attempt {} is not known", id);
  }
  const v1::Attempt& attempt = found->second.attempt;
  if (attempt.agent() != agent) return fmt::format("attempt {} was given to agent {}", id, attempt.agent());
  if (!SameLocks(finished.locks(), attempt.locks())) return fmt::format("attempt {} came with stale tokens", id);
  for (const v1::HeldLock& lock : attempt.locks()) {
    if (turn.state.leases.Holds(attempt.job_id(), lock.key(), lock.token())) continue;
    return fmt::format("attempt {} does not hold {} under token {} any more", id, lock.key(), lock.token());
  }
  return "";
}

void OnFinished(Turn& turn, uint64_t session, const std::string& agent, const v1::AttemptFinished& finished) {
  if (!HasResult(turn.state, finished.attempt_id())) {
    const std::string why_orphan = WhyOrphan(turn, agent, finished);
    if (why_orphan.empty()) {
      ConcludeAttempt(turn, finished.attempt_id(), finished.evidence());
    } else {
      turn.effects.writes.push_back(PutOrphan{finished, agent, why_orphan});
    }
  }
  v1::ControllerMessage ack;
  ack.mutable_finished_ack()->set_attempt_id(finished.attempt_id());
  turn.SendTo(session, ack);
}

void OnRefused(Turn& turn, const std::string& agent, const v1::AttemptRefused& refused) {
  if (!SpokenFor(turn, refused.attempt_id(), agent)) return;
  v1::Evidence evidence;
  *evidence.mutable_outcome() =
      matrix::MakeOutcome(v1::VERDICT_INFRA, refused.outcome().kind().empty() ? "refused" : refused.outcome().kind(),
                          refused.outcome().reason());
  ConcludeAttempt(turn, refused.attempt_id(), evidence);
}

}  // namespace

void On(Turn& turn, const AgentSaid& event) {
  const auto session = turn.state.sessions.find(event.session_id);
  if (session == turn.state.sessions.end()) return;  // an older stream; the agent says it again on its new one
  const std::string agent = session->second;
  turn.state.agents.at(agent).last_heard = turn.now.mono;
  switch (event.message.body_case()) {
    case v1::AgentMessage::kHeartbeat:
      return OnHeartbeat(turn, event.session_id, agent, event.message.heartbeat());
    case v1::AgentMessage::kStarted:
      return OnStarted(turn, agent, event.message.started());
    case v1::AgentMessage::kProgress:
      return OnProgress(turn, agent, event.message.progress());
    case v1::AgentMessage::kFinished:
      return OnFinished(turn, event.session_id, agent, event.message.finished());
    case v1::AgentMessage::kRefused:
      return OnRefused(turn, agent, event.message.refused());
    case v1::AgentMessage::kHello:
    case v1::AgentMessage::kLog:
    case v1::AgentMessage::BODY_NOT_SET:
      return;  // no news: the shell handles them
  }
}

}  // namespace pyptox::controller
