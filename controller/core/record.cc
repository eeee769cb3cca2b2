#include "controller/core/record.h"

#include <utility>

#include "base/version.h"
#include "controller/core/scheduling.h"
#include "matrix/admission.h"
#include "matrix/record_seal.h"
#include "matrix/tree_digest.h"
#include "matrix/verdict.h"

namespace pyptox::controller {

namespace {

uint32_t PlannedCases(const JobEntry& entry) {
  if (entry.job.partial()) return static_cast<uint32_t>(entry.spec->cases_size());
  return matrix::PlannedCases(entry.spec->suite(), LaneOf(entry));
}

}  // namespace

v1::Outcome JudgedOutcome(const JobEntry& entry, const v1::Evidence& evidence) {
  if (evidence.outcome().verdict() == v1::VERDICT_CANCELLED) {
    return matrix::MakeOutcome(v1::VERDICT_INFRA, "outcome", "the agent ended the attempt without being asked to");
  }
  return matrix::AdmittedOutcome(evidence, PlannedCases(entry));
}

uint64_t AppendRecord(Turn& turn, const JobEntry& entry, const v1::Attempt& attempt, const v1::Evidence& evidence) {
  State& state = turn.state;
  const v1::Job& job = entry.job;
  v1::Record record;
  record.set_suite(job.suite());
  *record.mutable_contract() = entry.spec->suite().contract();
  record.set_suite_sha256(entry.suite_sha256);
  record.set_golden_sha256(matrix::GoldenSha256(entry.spec->suite(), entry.spec->tree()));
  record.set_lane(job.lane());
  record.set_target(job.target());
  record.set_resource(job.resource());
  record.set_agent(attempt.agent());
  record.set_job_id(job.id());
  record.set_attempt_id(attempt.id());
  record.set_attempt_number(attempt.number());
  *record.mutable_source() = entry.spec->source();
  *record.mutable_locks() = attempt.locks();
  *record.mutable_outcome() = job.outcome();
  *record.mutable_evidence() = evidence;
  record.set_partial(job.partial());
  record.set_recorded_at_ns(turn.now.wall.unix_ns);
  if (!attempt.agent().empty()) {
    record.set_agent_clock_offset_ns(state.agents.at(attempt.agent()).agent.clock_offset_ns());
  }
  record.set_submitter(job.submitter());
  record.set_controller_version(kVersion);
  v1::StoredRecord stored =
      matrix::SealRecord(++state.record_count, state.record_head_sha256, PlannedCases(entry), &record);
  state.record_head_sha256 = stored.sha256();
  turn.effects.writes.push_back(PutRecord{std::move(record), std::move(stored)});
  return state.record_count;
}

}  // namespace pyptox::controller
