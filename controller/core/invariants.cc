#include <fmt/format.h>

#include <algorithm>

#include "controller/core/held_locks.h"
#include "controller/core/prerequisite.h"
#include "controller/core/readiness.h"
#include "controller/core/resources.h"
#include "controller/core/scheduling.h"
#include "controller/core/step.h"

namespace pyptox::controller {
namespace {

absl::Status Broken(std::string text) { return absl::InternalError(std::move(text)); }

absl::Status CheckQueued(const State& state, const JobEntry& entry) {
  const uint64_t id = entry.job.id();
  if (entry.live_attempt != 0)
    return Broken(fmt::format("job {} is queued and has attempt {}", id, entry.live_attempt));
  if (CheckPrerequisites(state, entry).readiness == Readiness::kFailed)
    return Broken(fmt::format("job {} waits for what failed", id));
  const bool ready = HoldsOn(state, entry).empty();
  if (ready != state.leases.IsWaiting(id)) {
    return Broken(fmt::format("job {} is {}ready and {}in line", id, ready ? "" : "not ", ready ? "not " : ""));
  }
  return absl::OkStatus();
}

absl::Status CheckLive(const State& state, const JobEntry& entry) {
  const uint64_t id = entry.job.id();
  const auto live = state.attempts.find(entry.live_attempt);
  if (live == state.attempts.end()) return Broken(fmt::format("job {} runs without an attempt", id));
  const v1::Attempt& attempt = live->second.attempt;
  const auto holder = state.holders.find(attempt.resource());
  if (attempt.job_id() != id || holder == state.holders.end() || holder->second != attempt.id()) {
    return Broken(fmt::format("attempt {} of job {} does not hold its resource", attempt.id(), id));
  }
  for (const v1::HeldLock& lock : attempt.locks()) {
    if (!state.leases.Holds(id, lock.key(), lock.token())) {
      return Broken(fmt::format("attempt {} lost {} under token {}", attempt.id(), lock.key(), lock.token()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDone(const JobEntry& entry) {
  const v1::Job& job = entry.job;
  const bool never_ran = job.outcome().verdict() == v1::VERDICT_CANCELLED && job.attempts() == 0;
  if (job.outcome().verdict() == v1::VERDICT_UNSPECIFIED || (job.record_id() == 0) != never_ran || entry.spec ||
      entry.live_attempt != 0) {
    return Broken(fmt::format("job {} is done without its outcome or record, or holds on to something", job.id()));
  }
  return absl::OkStatus();
}

absl::Status CheckJobs(const State& state) {
  std::map<ResultKey, std::set<uint64_t>> pending;
  for (const auto& [id, entry] : state.jobs) {
    const bool is_done = entry.job.state() == v1::JOB_STATE_DONE;
    if (is_done == state.active.contains(id)) return Broken(fmt::format("job {} is done and active, or neither", id));
    if (!is_done && !entry.job.partial()) pending[KeyOf(entry, entry.job.lane())].insert(id);
    const absl::Status status = is_done                                     ? CheckDone(entry)
                                : entry.job.state() == v1::JOB_STATE_QUEUED ? CheckQueued(state, entry)
                                                                            : CheckLive(state, entry);
    if (!status.ok()) return status;
  }
  if (pending != state.pending) return Broken("the index of awaited results is wrong");
  return absl::OkStatus();
}

absl::Status CheckAgents(const State& state) {
  size_t connected = 0;
  for (const auto& [name, entry] : state.agents) {
    if (entry.agent.connected() != (entry.session != 0)) return Broken(fmt::format("agent {}: connected or not", name));
    if (entry.session == 0) continue;
    ++connected;
    const auto session = state.sessions.find(entry.session);
    if (session == state.sessions.end() || session->second != name) {
      return Broken(fmt::format("session {} is not that of agent {}", entry.session, name));
    }
  }
  if (connected != state.sessions.size()) return Broken("a session without an agent");
  for (const auto& [name, resource] : state.resources) {
    if (DerivedResource(state, resource).SerializeAsString() != resource.SerializeAsString()) {
      return Broken(fmt::format("resource {} is not as it follows from the rest", name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInvariants(const State& state) {
  if (auto status = state.leases.CheckInvariants(); !status.ok()) return status;
  if (auto status = CheckJobs(state); !status.ok()) return status;
  if (auto status = CheckAgents(state); !status.ok()) return status;
  size_t live = 0;
  for (const auto& [id, entry] : state.jobs) live += entry.live_attempt != 0;
  if (live != state.attempts.size() || live != state.leases.leases().size() || live != state.holders.size()) {
    return Broken(
        fmt::format("{} jobs have live attempts; there are {} of these, {} holders of leases, {} of resources", live,
                    state.attempts.size(), state.leases.leases().size(), state.holders.size()));
  }
  const uint64_t last_attempt = std::max(state.attempts.empty() ? 0 : state.attempts.rbegin()->first,
                                         state.ended.empty() ? 0 : state.ended.rbegin()->first);
  if (last_attempt > state.counters.attempts ||
      (!state.jobs.empty() && state.jobs.rbegin()->first > state.counters.jobs)) {
    return Broken("an id was given out that is not counted");
  }
  return absl::OkStatus();
}

}  // namespace pyptox::controller
