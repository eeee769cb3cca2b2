#include "matrix/standing.h"

#include <fmt/format.h>

#include "matrix/verdict.h"

namespace pyptox::matrix {

std::string RecordStanding(const v1::Record& record) {
  switch (record.outcome().verdict()) {
    case v1::VERDICT_PASS:
      return record.evidence().not_covered().empty() ? "PASS" : "PASS (limited)";
    case v1::VERDICT_FAIL:
      return "FAIL";
    case v1::VERDICT_BLOCKED_TOOLCHAIN:
      return "BLOCKED(toolchain)";
    case v1::VERDICT_BLOCKED_DEVICE:
      return "BLOCKED(device)";
    default:
      return "";
  }
}

std::string RecordReason(const v1::Record& record) {
  const auto& not_covered = record.evidence().not_covered();
  if (record.outcome().verdict() != v1::VERDICT_PASS || not_covered.empty()) return record.outcome().reason();
  return not_covered.size() == 1 ? not_covered[0]
                                 : fmt::format("{} (and {} more)", not_covered[0], not_covered.size() - 1);
}

bool UnsettlesPass(const v1::Outcome& outcome) {
  return outcome.verdict() == v1::VERDICT_NO_VERDICT ||
         (outcome.verdict() == v1::VERDICT_TIMEOUT && outcome.kind() != "queue");
}

v1::Cell CellOf(const std::string& suite, const v1::Lane& lane, std::span<const v1::Record> records) {
  const v1::Record* decisive = nullptr;
  const v1::Record* unsettling = nullptr;  // newer than the decisive one
  const v1::Record* newest = nullptr;
  for (const v1::Record& record : records) {
    if (record.partial()) continue;
    newest = &record;
    if (!record.not_admitted().empty()) continue;
    if (!RecordStanding(record).empty()) {
      decisive = &record;
      unsettling = nullptr;
    } else if (UnsettlesPass(record.outcome())) {
      unsettling = &record;
    }
  }

  const auto no_verdict = [](const v1::Record& record) {
    return fmt::format("record {} came to no verdict: {}", record.id(), OutcomeWord(record.outcome()));
  };
  v1::Cell cell;
  cell.set_suite(suite);
  cell.set_lane(lane.name());
  cell.set_target(lane.target());
  cell.set_resource(lane.resource().name());
  cell.set_standing("NEVER_RUN");
  if (decisive != nullptr) {
    cell.set_standing(RecordStanding(*decisive));
    cell.set_reason(RecordReason(*decisive));
    cell.set_evidence_class(decisive->evidence().evidence_class());
    *cell.mutable_counts() = decisive->counts();
    cell.set_head(decisive->source().head());
    cell.set_record_id(decisive->id());
    cell.set_recorded_at_ns(decisive->recorded_at_ns());
  }
  if (decisive != nullptr && decisive->outcome().verdict() == v1::VERDICT_PASS && unsettling != nullptr) {
    cell.set_standing(fmt::format("STALE({})", VerdictWord(unsettling->outcome().verdict())));
    cell.set_reason(no_verdict(*unsettling));
  } else if (newest != decisive) {
    cell.set_reason(newest->not_admitted().empty()
                        ? no_verdict(*newest)
                        : fmt::format("record {} is not admitted: {}", newest->id(), newest->not_admitted()));
  }
  return cell;
}

}  // namespace pyptox::matrix
