#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "controller/core/attempt_end.h"
#include "controller/core/handlers.h"
#include "controller/core/held_locks.h"
#include "controller/core/presence.h"
#include "controller/core/resources.h"
#include "controller/core/scheduling.h"

namespace pyptox::controller {
namespace {

// An agent that was heard this recently is there: another one of its name is refused.
constexpr Duration kSurelyAlive{3 * kHeartbeatInterval.ns};

absl::Status CheckForm(const v1::Hello& hello) {
  if (hello.agent().empty()) return absl::InvalidArgumentError("hello.agent: empty");
  if (hello.journal_id().empty()) return absl::InvalidArgumentError("hello.journal_id: empty");
  if (hello.epoch() == 0) return absl::InvalidArgumentError("hello.epoch: 0");
  if (hello.resources().empty()) return absl::InvalidArgumentError("hello.resources: none");
  std::set<std::string> names;
  for (const v1::Resource& resource : hello.resources()) {
    if (resource.name().empty() || !names.insert(resource.name()).second) {
      return absl::InvalidArgumentError(fmt::format("hello.resources: `{}` is empty or there twice", resource.name()));
    }
  }
  return absl::OkStatus();
}

// One name, one agent; one resource, one agent.
absl::Status CheckIdentity(const State& state, const v1::Hello& hello, uint64_t session_id, MonoTime now) {
  if (const auto known = state.agents.find(hello.agent()); known != state.agents.end()) {
    const auto& [agent, session, last_heard] = known->second;
    const bool same_journal = agent.journal_id() == hello.journal_id();
    if (same_journal && hello.epoch() < agent.epoch()) {
      return absl::FailedPreconditionError(
          fmt::format("agent {} has been seen in epoch {}; this is {}", hello.agent(), agent.epoch(), hello.epoch()));
    }
    if (session > session_id) {
      return absl::FailedPreconditionError(fmt::format("agent {} has a newer session", hello.agent()));
    }
    if (session != 0 && !same_journal && now < last_heard + kSurelyAlive) {
      return absl::FailedPreconditionError(
          fmt::format("agent {} is connected with another journal: is the name used twice?", hello.agent()));
    }
  }
  for (const v1::Resource& resource : hello.resources()) {
    const auto known = state.resources.find(resource.name());
    if (known == state.resources.end() || known->second.agent() == hello.agent()) continue;
    if (SessionFor(state, resource.name()) != 0 || state.holders.contains(resource.name())) {
      return absl::FailedPreconditionError(
          fmt::format("resource {} is registered by agent {}", resource.name(), known->second.agent()));
    }
  }
  return absl::OkStatus();
}

// Of a resource the agent says what it is, people say whether it may be used.
void Register(Turn& turn, const v1::Hello& hello) {
  std::set<std::string> touched;
  for (const std::string& name : ResourcesOf(turn.state, hello.agent())) {
    turn.state.resources.at(name).clear_agent();
    touched.insert(name);
  }
  for (const v1::Resource& offered : hello.resources()) {
    v1::Resource& resource = turn.state.resources[offered.name()];
    resource.set_name(offered.name());
    resource.set_backend(offered.backend());
    *resource.mutable_facts() = offered.facts();
    resource.set_agent(hello.agent());
    touched.insert(offered.name());
  }
  for (const std::string& name : touched) {
    v1::Resource& resource = turn.state.resources.at(name);
    resource = DerivedResource(turn.state, resource);
    turn.effects.writes.push_back(PutResource{resource});
  }
}

// The agent's journal holds this attempt: does it stay?
void Settle(Turn& turn, const v1::Hello& hello, const v1::ObservedAttempt& observed, v1::Welcome* welcome) {
  const uint64_t id = observed.attempt_id();
  const auto live = turn.state.attempts.find(id);
  const bool is_ours = live != turn.state.attempts.end() && live->second.attempt.agent() == hello.agent() &&
                       SameLocks(live->second.attempt.locks(), observed.locks());
  if (is_ours && observed.state() != v1::OBSERVED_STATE_INTERRUPTED) {
    turn.state.leases.Renew(live->second.attempt.job_id(), turn.now.mono);
    v1::Assign* confirmed = welcome->add_assigned();
    confirmed->set_attempt_id(id);
    *confirmed->mutable_locks() = live->second.attempt.locks();
    return;
  }
  if (is_ours) LoseAttempt(turn, id, "restart", fmt::format("agent {} restarted in the middle of it", hello.agent()));
  // A result of an attempt that was given up may still come, and is kept as an orphan. A running one that is neither
  // confirmed nor forgotten is ended by the agent.
  if (observed.state() == v1::OBSERVED_STATE_INTERRUPTED || HasResult(turn.state, id)) welcome->add_forget(id);
}

// The agent, in the same journal, has never heard of this attempt.
void AssignAgain(Turn& turn, uint64_t session_id, uint64_t attempt_id) {
  const v1::Attempt& attempt = turn.state.attempts.at(attempt_id).attempt;
  JobEntry& entry = turn.state.jobs.at(attempt.job_id());
  if (entry.job.state() == v1::JOB_STATE_CANCELLING) {
    v1::Evidence evidence;
    *evidence.mutable_outcome() = entry.job.outcome();
    ConcludeAttempt(turn, attempt_id, evidence);
    return;
  }
  turn.state.leases.Renew(entry.job.id(), turn.now.mono);
  turn.SendTo(session_id, AssignMessage(turn.state, attempt));
}

// Brings the attempts of both sides together and says Welcome.
void Reconcile(Turn& turn, uint64_t session_id, const v1::Hello& hello) {
  v1::ControllerMessage message;
  v1::Welcome& welcome = *message.mutable_welcome();
  welcome.set_heartbeat_ms(kHeartbeatInterval.ns / Milliseconds(1).ns);
  std::set<uint64_t> observed;
  for (const v1::ObservedAttempt& attempt : hello.attempts()) {
    if (observed.insert(attempt.attempt_id()).second) Settle(turn, hello, attempt, &welcome);
  }
  turn.SendTo(session_id, message);
  for (const uint64_t id : LiveAttemptsOf(turn.state, hello.agent())) {
    if (!observed.contains(id)) AssignAgain(turn, session_id, id);
  }
  for (const v1::Assign& confirmed : welcome.assigned()) {
    const JobEntry& entry = turn.state.jobs.at(turn.state.attempts.at(confirmed.attempt_id()).attempt.job_id());
    if (entry.job.state() == v1::JOB_STATE_CANCELLING) turn.SendTo(session_id, CancelMessage(entry));
  }
}

}  // namespace

void On(Turn& turn, const AgentHello& event) {
  if (turn.state.sessions.contains(event.session_id)) return;  // said twice
  const v1::Hello& hello = event.hello;
  absl::Status status = CheckForm(hello);
  if (status.ok()) status = CheckIdentity(turn.state, hello, event.session_id, turn.now.mono);
  if (!status.ok()) {
    turn.effects.actions.push_back(CloseSession{event.session_id, std::move(status)});
    return;
  }
  AgentEntry& entry = turn.state.agents[hello.agent()];
  entry.agent.set_name(hello.agent());
  if (entry.session != 0) HangUp(turn, hello.agent(), absl::AbortedError("the agent has opened a newer session"));
  if (entry.agent.journal_id() != hello.journal_id()) {
    for (const uint64_t id : LiveAttemptsOf(turn.state, hello.agent())) {
      LoseAttempt(turn, id, "journal", fmt::format("agent {} has lost its journal", hello.agent()));
    }
  }
  entry.agent.set_epoch(hello.epoch());
  entry.agent.set_journal_id(hello.journal_id());
  entry.agent.set_version(hello.version());
  entry.agent.set_clock_offset_ns(hello.clock_ns() - turn.now.wall.unix_ns);
  entry.agent.set_changed_at_ns(turn.now.wall.unix_ns);
  entry.agent.set_connected(true);
  entry.last_heard = turn.now.mono;
  turn.effects.writes.push_back(PutAgent{entry.agent});

  Reconcile(turn, event.session_id, hello);
  entry.session = event.session_id;
  turn.state.sessions[event.session_id] = hello.agent();
  Register(turn, hello);
  for (const v1::Resource& resource : hello.resources()) ConsiderAllOn(turn, resource.name());
}

}  // namespace pyptox::controller
