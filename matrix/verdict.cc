#include "matrix/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace pyptox::matrix {
namespace {

// Enum value names without their prefix.
std::string Unprefixed(std::string_view name, std::string_view prefix) {
  return std::string(name.starts_with(prefix) ? name.substr(prefix.size()) : name);
}

}  // namespace

v1::Outcome MakeOutcome(v1::Verdict verdict, std::string_view kind, std::string reason) {
  v1::Outcome outcome;
  outcome.set_verdict(verdict);
  outcome.set_kind(std::string(kind));
  outcome.set_reason(std::move(reason));
  return outcome;
}

bool IsFailure(v1::CaseOutcome outcome) {
  switch (outcome) {
    case v1::CASE_OUTCOME_MISMATCH:
    case v1::CASE_OUTCOME_OUT_OF_BOUNDS:
    case v1::CASE_OUTCOME_INPUT_CHANGED:
    case v1::CASE_OUTCOME_NOT_DETERMINISTIC:
    case v1::CASE_OUTCOME_FP_ENVIRONMENT:
    case v1::CASE_OUTCOME_CRASH:
    case v1::CASE_OUTCOME_EXITED:
    case v1::CASE_OUTCOME_HANG:
    case v1::CASE_OUTCOME_NO_SYMBOL:
    case v1::CASE_OUTCOME_NO_MODULE:
    case v1::CASE_OUTCOME_WRONG_STATUS:
    case v1::CASE_OUTCOME_BAD_FILE:
    case v1::CASE_OUTCOME_UNPINNED_GOLDEN:
    case v1::CASE_OUTCOME_FAILED:
      return true;
    default:
      return false;
  }
}

v1::CaseCounts CountCases(const CaseResults& cases, uint32_t planned) {
  v1::CaseCounts counts;
  counts.set_planned(planned);
  for (const v1::CaseResult& result : cases) {
    if (result.outcome() == v1::CASE_OUTCOME_PASS) {
      counts.set_passed(counts.passed() + 1);
    } else if (result.outcome() == v1::CASE_OUTCOME_SKIPPED) {
      counts.set_skipped(counts.skipped() + 1);
    } else if (IsFailure(result.outcome())) {
      counts.set_failed(counts.failed() + 1);
    } else {
      counts.set_other(counts.other() + 1);
    }
  }
  return counts;
}

v1::Outcome OutcomeOfCases(const CaseResults& cases, uint32_t planned) {
  const v1::CaseCounts counts = CountCases(cases, planned);
  if (counts.failed() > 0) {
    const auto first = std::find_if(cases.begin(), cases.end(), [](const auto& c) { return IsFailure(c.outcome()); });
    return MakeOutcome(
        v1::VERDICT_FAIL, "cases",
        fmt::format("{} of {} cases failed, first {}: {}", counts.failed(), planned, first->name(), first->reason()));
  }
  const auto blocked = [](const v1::CaseResult& c) { return c.outcome() == v1::CASE_OUTCOME_BLOCKED_DEVICE; };
  const auto infra = std::find_if(cases.begin(), cases.end(), [&](const v1::CaseResult& c) {
    return c.outcome() != v1::CASE_OUTCOME_PASS && c.outcome() != v1::CASE_OUTCOME_SKIPPED && !blocked(c);
  });
  if (infra != cases.end()) {
    return MakeOutcome(v1::VERDICT_INFRA, "cases", fmt::format("case {}: {}", infra->name(), infra->reason()));
  }
  if (const auto at = std::find_if(cases.begin(), cases.end(), blocked); at != cases.end()) {
    return MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "cases", fmt::format("case {}: {}", at->name(), at->reason()));
  }
  if (static_cast<uint32_t>(cases.size()) != planned) {
    return MakeOutcome(v1::VERDICT_NO_VERDICT, "planned",
                       fmt::format("{} cases ran, planned are {}", cases.size(), planned));
  }
  if (counts.passed() == 0) return MakeOutcome(v1::VERDICT_NO_VERDICT, "planned", "no case ran");
  return MakeOutcome(v1::VERDICT_PASS, "", "");
}

bool IsRetryable(const v1::Outcome& outcome) {
  return outcome.verdict() == v1::VERDICT_INFRA || outcome.verdict() == v1::VERDICT_LOST;
}

std::string VerdictWord(v1::Verdict verdict) { return Unprefixed(v1::Verdict_Name(verdict), "VERDICT_"); }

std::string OutcomeWord(const v1::Outcome& outcome) {
  const std::string word = VerdictWord(outcome.verdict());
  const bool with_kind = outcome.verdict() == v1::VERDICT_INFRA || outcome.verdict() == v1::VERDICT_TIMEOUT;
  return with_kind && !outcome.kind().empty() ? fmt::format("{}({})", word, outcome.kind()) : word;
}

std::string CaseOutcomeWord(v1::CaseOutcome outcome) {
  return Unprefixed(v1::CaseOutcome_Name(outcome), "CASE_OUTCOME_");
}

std::string EvidenceClassWord(v1::EvidenceClass evidence_class) {
  if (evidence_class == v1::EVIDENCE_CLASS_UNSPECIFIED) return "";
  std::string word = Unprefixed(v1::EvidenceClass_Name(evidence_class), "EVIDENCE_CLASS_");
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return word;
}

ExitCode ExitCodeOf(const v1::Outcome& outcome) {
  switch (outcome.verdict()) {
    case v1::VERDICT_PASS:
      return kExitPass;
    case v1::VERDICT_FAIL:
    case v1::VERDICT_NO_VERDICT:
    case v1::VERDICT_CANCELLED:
      return kExitVerdictFail;
    case v1::VERDICT_TIMEOUT:
      return outcome.kind() == "queue" ? kExitBusy : kExitVerdictFail;
    case v1::VERDICT_BLOCKED_TOOLCHAIN:
    case v1::VERDICT_BLOCKED_DEVICE:
      return kExitBlocked;
    default:
      return kExitInternal;
  }
}

}  // namespace pyptox::matrix
