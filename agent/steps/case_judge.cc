#include "agent/steps/case_judge.h"

#include <fmt/format.h>

namespace pyptox::agent {
namespace {

void Set(v1::CaseResult* result, v1::CaseOutcome outcome, std::string reason) {
  result->set_outcome(outcome);
  result->set_reason(std::move(reason));
}

bool IsTheRunners(v1::CaseOutcome outcome) {
  switch (outcome) {
    case v1::CASE_OUTCOME_UNSPECIFIED:
    case v1::CASE_OUTCOME_UNPINNED_GOLDEN:
    case v1::CASE_OUTCOME_SKIPPED:
    case v1::CASE_OUTCOME_FAILED:
    case v1::CASE_OUTCOME_INFRA:
      return false;
    default:
      return v1::CaseOutcome_IsValid(outcome);
  }
}

// Empty when the agent saw what the runner says.
std::string Contradiction(const v1::LaunchResult& launch, const CaseSight& sight) {
  if (launch.launches() != sight.repeat) {
    return fmt::format("the runner says PASS after {} of {} launches", launch.launches(), sight.repeat);
  }
  for (const OutputSight& output : sight.outputs) {
    if (!output.fault.empty()) return fmt::format("the runner says PASS, but {}", output.fault);
    if (output.sha256 != output.golden_sha256) {
      return fmt::format("the runner says PASS, but output {} has the digest {} and its golden {}", output.name,
                         output.sha256, output.golden_sha256);
    }
  }
  return "";
}

}  // namespace

void JudgeCase(const v1::LaunchResult& launch, const CaseSight& sight, v1::CaseResult* result) {
  *result->mutable_launch() = launch;
  if (!IsTheRunners(launch.outcome())) {
    return Set(result, v1::CASE_OUTCOME_INFRA,
               fmt::format("the runner's outcome {} is not a runner's to give", static_cast<int>(launch.outcome())));
  }
  if (!sight.source_fault.empty()) return Set(result, v1::CASE_OUTCOME_BAD_FILE, sight.source_fault);
  if (launch.outcome() != v1::CASE_OUTCOME_PASS) {
    std::string reason = launch.reason();
    if (!sight.pin_fault.empty()) reason += fmt::format(" (and {})", sight.pin_fault);
    return Set(result, launch.outcome(), std::move(reason));
  }
  std::string contradiction = Contradiction(launch, sight);
  if (!contradiction.empty()) return Set(result, v1::CASE_OUTCOME_INFRA, std::move(contradiction));
  if (!sight.pin_fault.empty()) return Set(result, v1::CASE_OUTCOME_UNPINNED_GOLDEN, sight.pin_fault);
  Set(result, v1::CASE_OUTCOME_PASS, "");
}

}  // namespace pyptox::agent
