#include "agent/steps/evidence_size.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/message_json.h"
#include "matrix/verdict.h"

namespace pyptox::agent {
namespace {

constexpr int kMaxOpenedFiles = 1000;

bool Fits(const v1::Evidence& evidence) {
  const absl::StatusOr<std::string> json = MessageToCanonicalJson(evidence);
  return json.ok() && json->size() <= kMaxEvidenceJsonBytes;
}

void DropLaunches(v1::Evidence* evidence, bool passed_only) {
  for (v1::CaseResult& result : *evidence->mutable_cases()) {
    if (!passed_only || result.outcome() == v1::CASE_OUTCOME_PASS) result.clear_launch();
  }
  evidence->add_not_covered(fmt::format("measured details of {}cases are left out: the record would be too large",
                                        passed_only ? "passed " : ""));
}

void DropOpened(v1::Evidence* evidence) {
  int kept = 0, dropped = 0;
  for (v1::StepResult& step : *evidence->mutable_steps()) {
    auto& opened = *step.mutable_opened();
    const auto end = std::remove_if(opened.begin(), opened.end(), [&](const v1::OpenedFile& file) {
      if (file.outside()) return false;
      const bool drop = kept >= kMaxOpenedFiles;
      ++(drop ? dropped : kept);
      return drop;
    });
    opened.erase(end, opened.end());
  }
  if (dropped > 0) {
    evidence->add_not_covered(fmt::format("{} opened files are not listed: the record would be too large", dropped));
  }
}

}  // namespace

void FitEvidence(v1::Evidence* evidence) {
  if (Fits(*evidence)) return;
  DropLaunches(evidence, true);
  if (Fits(*evidence)) return;
  DropOpened(evidence);
  if (Fits(*evidence)) return;
  DropLaunches(evidence, false);
  if (Fits(*evidence)) return;
  const std::string was = matrix::OutcomeWord(evidence->outcome());
  evidence->clear_cases();
  evidence->clear_steps();
  evidence->clear_not_covered();
  *evidence->mutable_outcome() = matrix::MakeOutcome(
      v1::VERDICT_INFRA, "evidence", fmt::format("the evidence is too large for a record; the outcome was {}", was));
}

}  // namespace pyptox::agent
