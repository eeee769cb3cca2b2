#include <fmt/format.h>

#include "controller/core/attempt_end.h"
#include "controller/core/handlers.h"
#include "matrix/verdict.h"

namespace pyptox::controller {

void On(Turn& turn, const Cancel& event) {
  const auto found = turn.state.jobs.find(event.job_id);
  if (found == turn.state.jobs.end()) {
    turn.effects.actions.push_back(
        Reply{event.request_id, absl::NotFoundError(fmt::format("there is no job {}", event.job_id)), {}});
    return;
  }
  const v1::Outcome outcome = matrix::MakeOutcome(v1::VERDICT_CANCELLED, "", event.reason);
  const v1::Job& job = found->second.job;
  if (job.state() == v1::JOB_STATE_QUEUED) FinishQueued(turn, event.job_id, outcome);
  if (job.state() == v1::JOB_STATE_RUNNING) CancelRunning(turn, event.job_id, outcome);
  turn.effects.actions.push_back(Reply{event.request_id, absl::OkStatus(), job});
}

}  // namespace pyptox::controller
