#include "controller/core/new_job.h"

#include "controller/core/prerequisite.h"
#include "controller/core/scheduling.h"

namespace pyptox::controller {

uint64_t AddJob(Turn& turn, const Submission& submission, const v1::Lane& lane) {
  State& state = turn.state;
  const v1::JobSpec& spec = *submission.spec;
  const uint64_t id = ++state.counters.jobs;
  JobEntry& entry = state.jobs[id];
  v1::Job& job = entry.job;
  job.set_id(id);
  job.set_submission_id(submission.id);
  job.set_suite(spec.suite().name());
  job.set_lane(lane.name());
  job.set_target(lane.target());
  job.set_resource(lane.resource().name());
  job.set_priority(spec.priority());
  job.set_submitter(submission.submitter);
  job.set_state(v1::JOB_STATE_QUEUED);
  job.set_head(spec.source().head());
  job.set_dirty(spec.source().dirty());
  job.set_tree_sha256(spec.source().tree_sha256());
  job.set_submitted_at_ns(turn.now.wall.unix_ns);
  job.set_max_attempts(spec.max_attempts());
  job.set_partial(!spec.cases().empty());
  *job.mutable_requires_pass() = lane.requires_pass();
  job.set_request_sha256(submission.request_sha256);
  state.submissions[submission.id].push_back(id);
  Enlist(state, entry, submission, turn.now.mono);
  turn.Save(entry);
  turn.effects.writes.push_back(PutJobSpec{id, entry.spec});
  return id;
}

void Enlist(State& state, JobEntry& entry, const Submission& submission, MonoTime now) {
  entry.spec = submission.spec;
  entry.suite_sha256 = submission.suite_sha256;
  entry.queued_since = now;
  entry.queue_deadline = now + QueueLimit(entry);
  state.active.insert(entry.job.id());
  if (!entry.job.partial()) state.pending[KeyOf(entry, entry.job.lane())].insert(entry.job.id());
}

}  // namespace pyptox::controller
