// Small records for tests.
#ifndef PYPTOX_TESTS_UNIT_MATRIX_RECORD_FIXTURE_H_
#define PYPTOX_TESTS_UNIT_MATRIX_RECORD_FIXTURE_H_

#include <string>
#include <utility>
#include <vector>

#include "matrix/record_seal.h"
#include "matrix/verdict.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::matrix {

inline v1::CaseResult MakeCase(std::string name, v1::CaseOutcome outcome, std::string reason = "") {
  v1::CaseResult result;
  result.set_name(std::move(name));
  result.set_outcome(outcome);
  result.set_reason(std::move(reason));
  return result;
}

// An admitted PASS of two cases by job and attempt `number`, not sealed.
inline v1::Record MakeRecord(uint64_t number, const std::string& suite = "ops",
                             const std::string& lane = "cpu-scalar@dev") {
  v1::Record record;
  record.set_suite(suite);
  record.mutable_contract()->set_name("ops");
  record.mutable_contract()->set_version("1.0");
  record.set_suite_sha256(std::string(64, 'a'));
  record.set_golden_sha256(std::string(64, 'b'));
  record.set_lane(lane);
  record.set_target(lane.substr(0, lane.find('@')));
  record.set_resource(lane.substr(lane.find('@') + 1));
  record.set_agent("local");
  record.set_job_id(number);
  record.set_attempt_id(number);
  record.set_attempt_number(1);
  record.mutable_source()->set_repository("ops");
  record.mutable_source()->set_head(std::string(40, 'c'));
  record.mutable_source()->set_tree_sha256(std::string(64, 'd'));
  *record.mutable_outcome() = MakeOutcome(v1::VERDICT_PASS, "", "");
  v1::Evidence& evidence = *record.mutable_evidence();
  *evidence.mutable_outcome() = record.outcome();
  evidence.set_evidence_class(v1::EVIDENCE_CLASS_VIRTUALIZED);
  *evidence.add_cases() = MakeCase("add", v1::CASE_OUTCOME_PASS);
  *evidence.add_cases() = MakeCase("mul", v1::CASE_OUTCOME_PASS);
  record.set_recorded_at_ns(1'800'000'000'000'000'000 + static_cast<int64_t>(number) * 1'000'000'000);
  record.set_submitter("someone");
  record.set_controller_version("0.1.0");
  return record;
}

// Seals records one after the other.
class Chain {
 public:
  // Fills in what sealing adds to `record`.
  v1::StoredRecord Add(v1::Record* record, uint32_t planned = 2) {
    v1::StoredRecord stored = SealRecord(checkpoint_.count + 1, checkpoint_.head_sha256, planned, record);
    checkpoint_ = {stored.id(), stored.sha256()};
    return stored;
  }
  const Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  Checkpoint checkpoint_;
};

}  // namespace pyptox::matrix

#endif  // PYPTOX_TESTS_UNIT_MATRIX_RECORD_FIXTURE_H_
