#include "agent/core/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pyptox::agent {
namespace {

bool ShareALock(const v1::Assign& a, const v1::Assign& b) {
  return std::any_of(a.locks().begin(), a.locks().end(), [&](const v1::HeldLock& lock) {
    return std::any_of(b.locks().begin(), b.locks().end(),
                       [&](const v1::HeldLock& other) { return other.key() == lock.key(); });
  });
}

v1::Outcome Infra(const char* kind, std::string reason) {
  v1::Outcome outcome;
  outcome.set_verdict(v1::VERDICT_INFRA);
  outcome.set_kind(kind);
  outcome.set_reason(std::move(reason));
  return outcome;
}

// Why the attempt can't be run here; a verdict of UNSPECIFIED when it can.
v1::Outcome WhyRefused(const State& state, const v1::Assign& assign) {
  for (const v1::HeldLock& lock : assign.locks()) {
    const auto seen = state.tokens.find(lock.key());
    if (seen != state.tokens.end() && lock.token() <= seen->second) {
      return Infra("stale_token",
                   fmt::format("token {} of {} is stale: {} has been seen", lock.token(), lock.key(), seen->second));
    }
  }
  if (!state.resources.contains(assign.resource())) {
    return Infra("unknown_resource", fmt::format("this agent has no resource {}", assign.resource()));
  }
  if (state.disk_low) return Infra("disk_full", "free space is below the agent's floor");
  return {};
}

void Start(Turn& turn, AttemptEntry& entry) {
  entry.phase = Phase::kRunning;
  turn.effects.actions.push_back(StartAttempt{entry.assign});
  entry.assign.clear_spec();
}

}  // namespace

void Say(Turn& turn, v1::AgentMessage message) {
  if (turn.state.welcomed) turn.effects.actions.push_back(Send{turn.state.link, std::move(message)});
}

void Accept(Turn& turn, const v1::Assign& assign) {
  State& state = turn.state;
  if (state.attempts.contains(assign.attempt_id())) return;
  if (v1::Outcome refusal = WhyRefused(state, assign); refusal.verdict() != v1::VERDICT_UNSPECIFIED) {
    v1::AgentMessage message;
    message.mutable_refused()->set_attempt_id(assign.attempt_id());
    *message.mutable_refused()->mutable_outcome() = std::move(refusal);
    return Say(turn, std::move(message));
  }
  for (const v1::HeldLock& lock : assign.locks()) state.tokens[lock.key()] = lock.token();
  Accepted accepted{assign};
  accepted.assign.clear_spec();
  turn.effects.journal.push_back(std::move(accepted));
  // A newer token means that whoever held the lock here before has lost it.
  std::vector<uint64_t> superseded;
  for (const auto& [id, entry] : state.attempts) {
    const bool holds = entry.phase == Phase::kWaiting || entry.phase == Phase::kRunning;
    if (holds && ShareALock(entry.assign, assign)) superseded.push_back(id);
  }
  for (const uint64_t id : superseded) Forget(turn, id, "a newer attempt has its locks");
  state.attempts[assign.attempt_id()].assign = assign;
  StartWaiting(turn);
}

void Finish(Turn& turn, uint64_t attempt_id, v1::Evidence evidence) {
  AttemptEntry& entry = turn.state.attempts.at(attempt_id);
  entry.phase = Phase::kFinished;
  entry.assign.clear_spec();
  entry.progress_unsent = false;
  entry.finished.set_attempt_id(attempt_id);
  *entry.finished.mutable_locks() = entry.assign.locks();
  *entry.finished.mutable_evidence() = std::move(evidence);
  turn.effects.journal.push_back(Finished{entry.finished});
  SayFinished(turn, entry);
}

void Forget(Turn& turn, uint64_t attempt_id, std::string_view reason) {
  AttemptEntry& entry = turn.state.attempts.at(attempt_id);
  if (entry.phase != Phase::kRunning) return Drop(turn, attempt_id);
  if (std::exchange(entry.unwanted, true)) return;
  turn.effects.actions.push_back(KillAttempt{attempt_id, std::string(reason)});
}

void Drop(Turn& turn, uint64_t attempt_id) {
  turn.state.attempts.erase(attempt_id);
  turn.effects.journal.push_back(Forgotten{attempt_id});
  turn.effects.actions.push_back(RemoveAttemptFolder{attempt_id});
}

void StartWaiting(Turn& turn) {
  for (auto& [id, waiting] : turn.state.attempts) {
    if (waiting.phase != Phase::kWaiting) continue;
    const bool blocked = std::any_of(turn.state.attempts.begin(), turn.state.attempts.end(), [&](const auto& other) {
      return other.second.phase == Phase::kRunning && ShareALock(other.second.assign, waiting.assign);
    });
    if (!blocked) Start(turn, waiting);
  }
}

void SayFinished(Turn& turn, const AttemptEntry& entry) {
  v1::AgentMessage message;
  *message.mutable_finished() = entry.finished;
  Say(turn, std::move(message));
}

void SayStarted(Turn& turn, uint64_t attempt_id) {
  v1::AgentMessage message;
  message.mutable_started()->set_attempt_id(attempt_id);
  Say(turn, std::move(message));
}

void SayProgress(Turn& turn, uint64_t attempt_id, AttemptEntry& entry) {
  entry.progress_unsent = false;
  entry.next_progress = turn.now.mono + kProgressInterval;
  v1::AgentMessage message;
  message.mutable_progress()->set_attempt_id(attempt_id);
  *message.mutable_progress()->mutable_progress() = entry.progress;
  Say(turn, std::move(message));
}

}  // namespace pyptox::agent
