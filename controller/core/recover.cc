#include "controller/core/recover.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "controller/core/new_job.h"
#include "controller/core/resources.h"
#include "controller/core/scheduling.h"
#include "matrix/suite_check.h"
#include "matrix/tree_digest.h"

namespace pyptox::controller {
namespace {

absl::Status Contradiction(std::string text) { return absl::InternalError("the store contradicts itself: " + text); }

absl::Status AddJobs(const Recovered& recovered, MonoTime now, State* state) {
  std::map<uint64_t, Submission> submissions;
  for (const v1::Job& job : recovered.jobs) {
    state->jobs[job.id()].job = job;
  }
  for (auto& [id, entry] : state->jobs) {
    state->submissions[entry.job.submission_id()].push_back(id);
    if (entry.job.state() == v1::JOB_STATE_DONE) continue;
    Submission& submission = submissions[entry.job.submission_id()];
    if (!submission.spec) {
      const auto spec = recovered.specs.find(id);
      if (spec == recovered.specs.end()) return Contradiction(fmt::format("job {} has no spec", id));
      auto shared = std::make_shared<v1::JobSpec>(spec->second);
      shared->clear_lane();
      submission = {entry.job.submission_id(), shared, matrix::SuiteSha256(shared->suite()), entry.job.submitter()};
    }
    if (!matrix::FindLane(submission.spec->suite(), entry.job.lane())) {
      return Contradiction(fmt::format("the spec of job {} has no lane {}", id, entry.job.lane()));
    }
    Enlist(*state, entry, submission, now);
  }
  return absl::OkStatus();
}

absl::Status AddAttempts(const Recovered& recovered, MonoTime now, State* state) {
  for (const v1::Attempt& attempt : recovered.attempts) {
    const auto job = state->jobs.find(attempt.job_id());
    if (job == state->jobs.end()) return Contradiction(fmt::format("attempt {} has no job", attempt.id()));
    JobEntry& entry = job->second;
    if (attempt.state() == v1::ATTEMPT_STATE_ENDED) {
      state->ended[attempt.id()] = attempt.outcome().verdict();
      entry.infra_attempts += attempt.outcome().verdict() == v1::VERDICT_INFRA;
      entry.lost_attempts += attempt.outcome().verdict() == v1::VERDICT_LOST;
      continue;
    }
    const bool job_is_live =
        entry.job.state() == v1::JOB_STATE_RUNNING || entry.job.state() == v1::JOB_STATE_CANCELLING;
    if (!job_is_live || entry.live_attempt != 0 || !state->agents.contains(attempt.agent())) {
      return Contradiction(fmt::format("attempt {} is live; its job {}, another attempt or its agent {} says otherwise",
                                       attempt.id(), entry.job.id(), attempt.agent()));
    }
    entry.live_attempt = attempt.id();
    const Duration allowance = attempt.state() == v1::ATTEMPT_STATE_ASSIGNED ? kStartAllowance : Duration{};
    state->attempts[attempt.id()] = {attempt, now + RunLimit(entry) + allowance + kRunBackstop};
    state->holders[attempt.resource()] = attempt.id();
  }
  for (const auto& [id, entry] : state->jobs) {
    const bool waits = entry.job.state() == v1::JOB_STATE_QUEUED || entry.job.state() == v1::JOB_STATE_DONE;
    if (!waits && entry.live_attempt == 0) return Contradiction(fmt::format("job {} runs without an attempt", id));
  }
  return absl::OkStatus();
}

absl::Status AddLeases(const Recovered& recovered, MonoTime now, State* state) {
  std::map<uint64_t, locks::Grant> grants;  // by job
  for (const v1::Lease& lease : recovered.leases) {
    const auto live = state->attempts.find(lease.attempt_id());
    if (live == state->attempts.end()) {
      return Contradiction(fmt::format("{} is held by attempt {}, which is not live", lease.key(), lease.attempt_id()));
    }
    locks::Grant& grant = grants[live->second.attempt.job_id()];
    grant.holder = live->second.attempt.job_id();
    grant.locks.push_back({lease.key(), lease.mode(), lease.units(), lease.token()});
  }
  std::vector<locks::Grant> leases;
  for (auto& [job_id, grant] : grants) leases.push_back(std::move(grant));
  std::map<std::string, uint64_t> tokens;
  for (const v1::HeldLock& token : recovered.tokens) tokens[token.key()] = token.token();
  if (auto status = state->leases.Restore(leases, tokens, now); !status.ok()) return status;
  for (const auto& [id, live] : state->attempts) {
    for (const v1::HeldLock& lock : live.attempt.locks()) {
      if (state->leases.Holds(live.attempt.job_id(), lock.key(), lock.token())) continue;
      return Contradiction(fmt::format("attempt {} does not hold {} under token {}", id, lock.key(), lock.token()));
    }
  }
  return absl::OkStatus();
}

// What people read: nobody is connected any more.
void MarkAllDisconnected(Turn& turn) {
  for (auto& [name, entry] : turn.state.agents) {
    if (!entry.agent.connected()) continue;
    entry.agent.set_connected(false);
    entry.agent.set_changed_at_ns(turn.now.wall.unix_ns);
    turn.effects.writes.push_back(PutAgent{entry.agent});
  }
  for (const auto& [name, resource] : turn.state.resources) RefreshResource(turn, name);
}

}  // namespace

absl::StatusOr<Start> MakeState(const Recovered& recovered, Now now) {
  Start start;
  State& state = start.state;
  state.last_step = now.mono;
  state.counters = recovered.counters;
  state.record_count = recovered.record_count;
  if (recovered.record_count > 0) state.record_head_sha256 = recovered.record_head_sha256;
  state.idempotency = recovered.idempotency;
  for (const v1::Agent& agent : recovered.agents) state.agents[agent.name()] = {agent, 0, now.mono};
  for (const v1::Resource& resource : recovered.resources) {
    if (!resource.agent().empty() && !state.agents.contains(resource.agent())) {
      return Contradiction(fmt::format("resource {} has no agent {}", resource.name(), resource.agent()));
    }
    state.resources[resource.name()] = resource;
  }
  for (const RecoveredResult& result : recovered.results) {
    state.results[{result.suite, result.suite_sha256, result.lane, result.tree_sha256}] = {result.record_id,
                                                                                           result.verdict};
  }
  absl::Status status = AddJobs(recovered, now.mono, &state);
  if (status.ok()) status = AddAttempts(recovered, now.mono, &state);
  if (status.ok()) status = AddLeases(recovered, now.mono, &state);
  if (!status.ok()) return status;
  Turn turn{state, start.effects, now};
  MarkAllDisconnected(turn);
  const std::set<uint64_t> active = state.active;  // a failed prerequisite ends jobs
  for (const uint64_t id : active) Consider(turn, id);
  return start;
}

}  // namespace pyptox::controller
