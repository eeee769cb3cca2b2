#include <fmt/format.h>

#include "controller/core/attempt_end.h"
#include "controller/core/handlers.h"
#include "controller/core/presence.h"
#include "controller/core/readiness.h"
#include "controller/core/scheduling.h"
#include "matrix/verdict.h"

namespace pyptox::controller {
namespace {

void LoseSilentAgents(Turn& turn) {
  for (const auto& [name, entry] : turn.state.agents) {
    if (turn.now.mono < entry.last_heard + kLostAfter) continue;
    const std::string reason = fmt::format("agent {} was silent for {} s", name, kLostAfter.ns / Seconds(1).ns);
    if (entry.session != 0) HangUp(turn, name, absl::UnavailableError(reason));
    for (const uint64_t id : LiveAttemptsOf(turn.state, name)) LoseAttempt(turn, id, "agent", reason);
  }
}

// What is left are attempts that a connected agent does not name.
void LoseUnnamedAttempts(Turn& turn) {
  const locks::ExpireResult expired = turn.state.leases.Expire(turn.now.mono);
  for (const uint64_t job_id : expired.expired) {
    LoseAttempt(turn, turn.state.jobs.at(job_id).live_attempt, "unnamed", "its agent no longer names it");
  }
  GiveOut(turn, expired.grants);
}

void EndOverdueJobs(Turn& turn) {
  const std::set<uint64_t> active = turn.state.active;  // ending one may end others
  for (const uint64_t id : active) {
    const JobEntry& entry = turn.state.jobs.at(id);
    if (entry.job.state() == v1::JOB_STATE_QUEUED && entry.queue_deadline <= turn.now.mono &&
        !IsHeldByOrder(turn.state, entry)) {
      const int64_t limit_s = QueueLimit(entry).ns / Seconds(1).ns;
      FinishQueued(turn, id,
                   matrix::MakeOutcome(v1::VERDICT_TIMEOUT, "queue", fmt::format("not started in {} s", limit_s)));
    } else if (entry.job.state() == v1::JOB_STATE_RUNNING &&
               turn.state.attempts.at(entry.live_attempt).backstop <= turn.now.mono) {
      CancelRunning(turn, id,
                    matrix::MakeOutcome(v1::VERDICT_TIMEOUT, "run", "its agent did not end it at its run limit"));
    }
  }
}

}  // namespace

void On(Turn& turn, const Tick&) {
  LoseSilentAgents(turn);
  LoseUnnamedAttempts(turn);
  EndOverdueJobs(turn);
}

}  // namespace pyptox::controller
