#include "controller/core/scheduling.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "controller/core/attempt_end.h"
#include "controller/core/prerequisite.h"
#include "controller/core/readiness.h"
#include "controller/core/resources.h"
#include "matrix/resource_state.h"
#include "matrix/suite_check.h"
#include "matrix/verdict.h"

namespace pyptox::controller {
namespace {

// Ids of the queued jobs that `is_wanted` takes. A copy, since considering one may end others.
template <typename Predicate>
std::vector<uint64_t> QueuedJobs(const State& state, Predicate is_wanted) {
  std::vector<uint64_t> found;
  for (const uint64_t id : state.active) {
    const v1::Job& job = state.jobs.at(id).job;
    if (job.state() == v1::JOB_STATE_QUEUED && is_wanted(job)) found.push_back(id);
  }
  return found;
}

v1::Attempt NewAttempt(Turn& turn, const v1::Job& job, const locks::Grant& grant) {
  v1::Attempt attempt;
  attempt.set_id(++turn.state.counters.attempts);
  attempt.set_job_id(job.id());
  attempt.set_number(job.attempts() + 1);
  attempt.set_agent(turn.state.resources.at(job.resource()).agent());
  attempt.set_resource(job.resource());
  attempt.set_state(v1::ATTEMPT_STATE_ASSIGNED);
  attempt.set_assigned_at_ns(turn.now.wall.unix_ns);
  for (const locks::GrantedLock& lock : grant.locks) {
    v1::HeldLock* held = attempt.add_locks();
    held->set_key(lock.key);
    held->set_token(lock.token);
  }
  return attempt;
}

void WriteLeases(Turn& turn, uint64_t attempt_id, const locks::Grant& grant) {
  for (const locks::GrantedLock& lock : grant.locks) {
    v1::Lease lease;
    lease.set_key(lock.key);
    lease.set_mode(lock.mode);
    lease.set_units(lock.units);
    lease.set_attempt_id(attempt_id);
    lease.set_token(lock.token);
    lease.set_ttl_ms(kLeaseTtl.ns / Milliseconds(1).ns);
    lease.set_granted_at_ns(turn.now.wall.unix_ns);
    turn.effects.writes.push_back(PutLease{lease});
    v1::HeldLock token;
    token.set_key(lock.key);
    token.set_token(lock.token);
    turn.effects.writes.push_back(PutToken{token});
  }
}

// What ends a queued job now, if anything does.
std::optional<v1::Outcome> EndOf(const State& state, const JobEntry& entry) {
  const Prerequisite prerequisite = CheckPrerequisites(state, entry);
  if (prerequisite.readiness == Readiness::kFailed) {
    return matrix::MakeOutcome(v1::VERDICT_NO_VERDICT, "prerequisite", prerequisite.reason);
  }
  const auto resource = state.resources.find(entry.job.resource());
  if (resource == state.resources.end() || !resource->second.has_order()) return std::nullopt;
  const v1::Verdict verdict = matrix::VerdictUnder(resource->second.order().state());
  if (verdict == v1::VERDICT_UNSPECIFIED) return std::nullopt;
  return matrix::MakeOutcome(
      verdict, "", fmt::format("resource {} is {}", entry.job.resource(), matrix::OrderText(resource->second.order())));
}

Duration SecondsOr(uint32_t given, int64_t fallback) { return Seconds(given == 0 ? fallback : given); }

}  // namespace

const v1::Lane& LaneOf(const JobEntry& entry) {
  // Jobs are made of lanes of their suite only.
  return *matrix::FindLane(entry.spec->suite(), entry.job.lane());
}

Duration QueueLimit(const JobEntry& entry) { return SecondsOr(LaneOf(entry).limits().queue_s(), 86'400); }
Duration RunLimit(const JobEntry& entry) { return SecondsOr(LaneOf(entry).limits().run_s(), 3'600); }

void Consider(Turn& turn, uint64_t job_id) {
  State& state = turn.state;
  const JobEntry& entry = state.jobs.at(job_id);
  if (entry.job.state() != v1::JOB_STATE_QUEUED) return;
  if (const std::optional<v1::Outcome> end = EndOf(state, entry)) return FinishQueued(turn, job_id, *end);
  const bool ready = HoldsOn(state, entry).empty();
  if (ready == state.leases.IsWaiting(job_id)) return;
  if (ready) {
    GiveOut(turn, state.leases.Request({.holder = job_id,
                                        .priority = entry.job.priority(),
                                        .wants = {{LockKeyOf(entry.job.resource())}},
                                        .since = entry.queued_since},
                                       turn.now.mono));
  } else {
    GiveOut(turn, state.leases.CancelRequest(job_id, turn.now.mono).grants);
  }
}

void ConsiderAllOn(Turn& turn, const std::string& resource) {
  const auto on_it = [&](const v1::Job& job) { return job.resource() == resource; };
  for (const uint64_t id : QueuedJobs(turn.state, on_it)) Consider(turn, id);
}

void ConsiderDependents(Turn& turn, const std::string& suite, const std::string& lane) {
  const auto depends = [&](const v1::Job& job) {
    return job.suite() == suite && std::count(job.requires_pass().begin(), job.requires_pass().end(), lane) > 0;
  };
  for (const uint64_t id : QueuedJobs(turn.state, depends)) Consider(turn, id);
}

void GiveOut(Turn& turn, const std::vector<locks::Grant>& grants) {
  for (const locks::Grant& grant : grants) {
    JobEntry& entry = turn.state.jobs.at(grant.holder);
    const v1::Attempt attempt = NewAttempt(turn, entry.job, grant);
    turn.state.attempts[attempt.id()] = {attempt, turn.now.mono + RunLimit(entry) + kStartAllowance + kRunBackstop};
    turn.state.holders[attempt.resource()] = attempt.id();
    entry.live_attempt = attempt.id();
    entry.job.set_state(v1::JOB_STATE_RUNNING);
    entry.job.set_attempts(attempt.number());
    entry.job.set_last_attempt_id(attempt.id());
    entry.job.clear_progress();
    turn.effects.writes.push_back(PutAttempt{attempt});
    WriteLeases(turn, attempt.id(), grant);
    turn.Save(entry);
    RefreshResource(turn, attempt.resource());
    // Not connected: the agent gets it when it says Hello.
    if (const uint64_t session = SessionFor(turn.state, attempt.resource())) {
      turn.SendTo(session, AssignMessage(turn.state, attempt));
    }
  }
}

v1::ControllerMessage AssignMessage(const State& state, const v1::Attempt& attempt) {
  const JobEntry& entry = state.jobs.at(attempt.job_id());
  v1::ControllerMessage message;
  v1::Assign& assign = *message.mutable_assign();
  assign.set_attempt_id(attempt.id());
  assign.set_job_id(attempt.job_id());
  assign.set_number(attempt.number());
  assign.set_resource(attempt.resource());
  *assign.mutable_locks() = attempt.locks();
  *assign.mutable_spec() = *entry.spec;
  assign.mutable_spec()->set_lane(entry.job.lane());
  return message;
}

}  // namespace pyptox::controller
