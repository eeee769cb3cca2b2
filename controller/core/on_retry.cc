#include <fmt/format.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "controller/core/handlers.h"
#include "controller/core/new_job.h"
#include "controller/core/scheduling.h"
#include "matrix/suite_check.h"
#include "matrix/tree_digest.h"

namespace pyptox::controller {
namespace {

absl::StatusOr<v1::Job> Handle(Turn& turn, const Retry& event) {
  const auto found = turn.state.jobs.find(event.job_id);
  if (found == turn.state.jobs.end()) return absl::NotFoundError(fmt::format("there is no job {}", event.job_id));
  const v1::Job& old = found->second.job;
  if (old.state() != v1::JOB_STATE_DONE) {
    return absl::FailedPreconditionError(fmt::format("job {} is not done; cancel it first", event.job_id));
  }
  if (turn.state.active.size() >= kMaxActiveJobs) {
    return absl::ResourceExhaustedError(fmt::format("{} jobs wait or run, which is the most allowed", kMaxActiveJobs));
  }
  const v1::Lane* lane = matrix::FindLane(event.spec.suite(), old.lane());
  if (!lane) {
    return absl::InternalError(fmt::format("the stored spec of job {} has no lane {}", event.job_id, old.lane()));
  }
  auto spec = std::make_shared<v1::JobSpec>(event.spec);
  spec->clear_lane();
  const std::string suite_sha256 = matrix::SuiteSha256(spec->suite());
  const Submission submission{++turn.state.counters.submissions, std::move(spec), suite_sha256, old.submitter(), ""};
  const uint64_t id = AddJob(turn, submission, *lane);
  Consider(turn, id);
  return turn.state.jobs.at(id).job;
}

}  // namespace

void On(Turn& turn, const Retry& event) {
  auto job = Handle(turn, event);
  Reply reply{event.request_id, job.status(), {}};
  if (job.ok()) reply.message = *std::move(job);
  turn.effects.actions.push_back(std::move(reply));
}

}  // namespace pyptox::controller
