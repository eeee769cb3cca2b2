#include "controller/core/attempt_end.h"

#include <utility>

#include "controller/core/prerequisite.h"
#include "controller/core/record.h"
#include "controller/core/resources.h"
#include "controller/core/scheduling.h"
#include "matrix/verdict.h"

namespace pyptox::controller {
namespace {

// Takes the attempt out of the live ones and gives its locks to whoever is next. Returns it as it ended.
v1::Attempt EndAttempt(Turn& turn, uint64_t attempt_id, const v1::Outcome& outcome) {
  State& state = turn.state;
  v1::Attempt attempt = std::move(state.attempts.extract(attempt_id).mapped().attempt);
  attempt.set_state(v1::ATTEMPT_STATE_ENDED);
  *attempt.mutable_outcome() = outcome;
  attempt.set_ended_at_ns(turn.now.wall.unix_ns);
  state.ended[attempt_id] = outcome.verdict();
  state.holders.erase(attempt.resource());
  state.jobs.at(attempt.job_id()).live_attempt = 0;
  turn.effects.writes.push_back(PutAttempt{attempt});
  turn.effects.writes.push_back(DeleteLeases{attempt_id});
  GiveOut(turn, state.leases.Release(attempt.job_id(), turn.now.mono));
  RefreshResource(turn, attempt.resource());
  return attempt;
}

// The job has its outcome. `attempt` and `evidence` are those that it ended with, if any.
void FinishJob(Turn& turn, uint64_t job_id, const v1::Outcome& outcome, const v1::Attempt& attempt,
               const v1::Evidence& evidence) {
  State& state = turn.state;
  JobEntry& entry = state.jobs.at(job_id);
  const ResultKey key = KeyOf(entry, entry.job.lane());
  entry.job.set_state(v1::JOB_STATE_DONE);
  *entry.job.mutable_outcome() = outcome;
  entry.job.set_ended_at_ns(turn.now.wall.unix_ns);
  const bool never_ran = outcome.verdict() == v1::VERDICT_CANCELLED && entry.job.attempts() == 0;
  if (!never_ran) {
    const uint64_t record_id = AppendRecord(turn, entry, attempt, evidence);
    entry.job.set_record_id(record_id);
    if (!entry.job.partial()) state.results[key] = {record_id, outcome.verdict()};
  }
  if (const auto pending = state.pending.find(key); pending != state.pending.end()) {
    pending->second.erase(job_id);
    if (pending->second.empty()) state.pending.erase(pending);
  }
  state.active.erase(job_id);
  entry.spec.reset();
  turn.Save(entry);
  ConsiderDependents(turn, entry.job.suite(), entry.job.lane());
}

void Requeue(Turn& turn, uint64_t job_id) {
  JobEntry& entry = turn.state.jobs.at(job_id);
  entry.job.set_state(v1::JOB_STATE_QUEUED);
  entry.job.clear_progress();
  entry.queued_since = turn.now.mono;
  entry.queue_deadline = turn.now.mono + QueueLimit(entry);
  turn.Save(entry);
  Consider(turn, job_id);
}

}  // namespace

void ConcludeAttempt(Turn& turn, uint64_t attempt_id, const v1::Evidence& evidence) {
  const uint64_t job_id = turn.state.attempts.at(attempt_id).attempt.job_id();
  JobEntry& entry = turn.state.jobs.at(job_id);
  const bool cancelling = entry.job.state() == v1::JOB_STATE_CANCELLING;
  const v1::Outcome outcome = cancelling ? entry.job.outcome() : JudgedOutcome(entry, evidence);
  const v1::Attempt attempt = EndAttempt(turn, attempt_id, outcome);
  if (outcome.verdict() == v1::VERDICT_INFRA && ++entry.infra_attempts < entry.job.max_attempts()) {
    Requeue(turn, job_id);
  } else {
    FinishJob(turn, job_id, outcome, attempt, evidence);
  }
}

void LoseAttempt(Turn& turn, uint64_t attempt_id, std::string_view kind, std::string_view reason) {
  const uint64_t job_id = turn.state.attempts.at(attempt_id).attempt.job_id();
  JobEntry& entry = turn.state.jobs.at(job_id);
  const bool cancelling = entry.job.state() == v1::JOB_STATE_CANCELLING;
  const v1::Outcome lost = matrix::MakeOutcome(v1::VERDICT_LOST, kind, std::string(reason));
  const v1::Attempt attempt = EndAttempt(turn, attempt_id, lost);
  if (cancelling) {
    FinishJob(turn, job_id, v1::Outcome(entry.job.outcome()), attempt, {});
  } else if (++entry.lost_attempts < kMaxLostAttempts) {
    Requeue(turn, job_id);
  } else {
    FinishJob(turn, job_id, lost, attempt, {});
  }
}

void FinishQueued(Turn& turn, uint64_t job_id, const v1::Outcome& outcome) {
  GiveOut(turn, turn.state.leases.CancelRequest(job_id, turn.now.mono).grants);
  FinishJob(turn, job_id, outcome, {}, {});
}

void CancelRunning(Turn& turn, uint64_t job_id, const v1::Outcome& outcome) {
  JobEntry& entry = turn.state.jobs.at(job_id);
  entry.job.set_state(v1::JOB_STATE_CANCELLING);
  *entry.job.mutable_outcome() = outcome;
  turn.Save(entry);
  const v1::Attempt& attempt = turn.state.attempts.at(entry.live_attempt).attempt;
  if (const uint64_t session = turn.state.agents.at(attempt.agent()).session) {
    turn.SendTo(session, CancelMessage(entry));
  }
}

bool HasResult(const State& state, uint64_t attempt_id) {
  const auto ended = state.ended.find(attempt_id);
  return ended != state.ended.end() && ended->second != v1::VERDICT_LOST;
}

v1::ControllerMessage CancelMessage(const JobEntry& entry) {
  v1::ControllerMessage message;
  message.mutable_cancel()->set_attempt_id(entry.live_attempt);
  message.mutable_cancel()->set_reason(entry.job.outcome().reason());
  return message;
}

}  // namespace pyptox::controller
