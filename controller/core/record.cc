#include "controller/core/record.h"

#include <fmt/format.h>

#include "base/message_json.h"
#include "base/sha256.h"
#include "base/version.h"

namespace pyptox::controller {

std::string SuiteSha256(const v1::Suite& suite) { return Sha256Of(MessageToCanonicalJson(suite).value()).Hex(); }

v1::Outcome JudgedOutcome(const JobEntry&, const v1::Evidence& evidence) {
  const v1::Verdict verdict = evidence.outcome().verdict();
  if (verdict == v1::VERDICT_UNSPECIFIED || verdict == v1::VERDICT_CANCELLED || verdict == v1::VERDICT_LOST) {
    return MakeOutcome(v1::VERDICT_INFRA, "outcome",
                       fmt::format("the agent's verdict {} was not asked for", v1::Verdict_Name(verdict)));
  }
  return evidence.outcome();
}

uint64_t AppendRecord(Turn& turn, const JobEntry& entry, const v1::Attempt& attempt, const v1::Evidence& evidence) {
  State& state = turn.state;
  const v1::Job& job = entry.job;
  v1::Record record;
  record.set_schema(1);
  record.set_id(++state.record_count);
  record.set_previous_sha256(state.record_head_sha256.empty() ? std::string(64, '0') : state.record_head_sha256);
  record.set_suite(job.suite());
  *record.mutable_contract() = entry.spec->suite().contract();
  record.set_suite_sha256(entry.suite_sha256);
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
  v1::StoredRecord stored;
  stored.set_id(record.id());
  stored.set_json(MessageToCanonicalJson(record).value());
  stored.set_sha256(Sha256Of(stored.json()).Hex());
  state.record_head_sha256 = stored.sha256();
  turn.effects.writes.push_back(PutRecord{std::move(record), std::move(stored)});
  return state.record_count;
}

}  // namespace pyptox::controller
