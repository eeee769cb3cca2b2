#include "agent/report/judge_report.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace pyptox::agent {
namespace {

v1::Outcome MakeOutcome(v1::Verdict verdict, std::string_view kind, std::string reason) {
  v1::Outcome outcome;
  outcome.set_verdict(verdict);
  outcome.set_kind(std::string(kind));
  outcome.set_reason(std::move(reason));
  return outcome;
}

// Number of failed cases.
int AddCases(const TestReport& report, v1::Evidence* evidence) {
  int failed = 0;
  for (const ReportedCase& reported : report.cases) {
    v1::CaseResult* result = evidence->add_cases();
    result->set_name(reported.name);
    result->set_reason(reported.reason);
    switch (reported.outcome) {
      case ReportedOutcome::kPassed:
        result->set_outcome(v1::CASE_OUTCOME_PASS);
        break;
      case ReportedOutcome::kFailed:
        result->set_outcome(v1::CASE_OUTCOME_FAILED);
        ++failed;
        break;
      case ReportedOutcome::kSkipped:
        result->set_outcome(v1::CASE_OUTCOME_SKIPPED);
        evidence->add_not_covered(fmt::format("case {} was skipped: {}", reported.name, reported.reason));
        break;
    }
  }
  return failed;
}

}  // namespace

v1::Outcome JudgeReport(const TestReport& report, const v1::ReportStep& step, int exit_status, v1::Evidence* evidence) {
  const int failed = AddCases(report, evidence);
  if ((failed > 0) != (exit_status != 0)) {
    return MakeOutcome(
        v1::VERDICT_INFRA, "report_disagrees",
        fmt::format("{} has {} failed cases, but the program's exit status is {}", step.file(), failed, exit_status));
  }
  if (report.cases.size() != step.planned()) {
    return MakeOutcome(
        v1::VERDICT_NO_VERDICT, "planned",
        fmt::format("{} has {} cases, planned are {}", step.file(), report.cases.size(), step.planned()));
  }
  for (const v1::CoverageCounter& wanted : step.coverage()) {
    const auto at = report.counters.find(wanted.name());
    if (at == report.counters.end()) {
      return MakeOutcome(v1::VERDICT_NO_VERDICT, "coverage",
                         fmt::format("{} has no counter '{}'", step.file(), wanted.name()));
    }
    if (const auto other = report.ambiguous.find(wanted.name()); other != report.ambiguous.end()) {
      return MakeOutcome(v1::VERDICT_INFRA, "report",
                         fmt::format("{}: counter '{}' has two values, {} and {}", step.file(), wanted.name(),
                                     at->second, other->second));
    }
    if (at->second > wanted.of()) {
      return MakeOutcome(
          v1::VERDICT_INFRA, "report",
          fmt::format("{} counts {} of {} for '{}'", step.file(), at->second, wanted.of(), wanted.name()));
    }
    v1::CoverageValue* value = evidence->add_coverage();
    value->set_name(wanted.name());
    value->set_value(at->second);
    value->set_of(wanted.of());
    if (at->second < wanted.of()) {
      evidence->add_not_covered(fmt::format("{}: {} of {}", wanted.name(), at->second, wanted.of()));
    }
  }
  if (failed > 0) {
    return MakeOutcome(v1::VERDICT_FAIL, "cases", fmt::format("{} of {} cases failed", failed, report.cases.size()));
  }
  if (report.cases.empty())
    return MakeOutcome(v1::VERDICT_NO_VERDICT, "planned", fmt::format("{} has no case", step.file()));
  return MakeOutcome(v1::VERDICT_PASS, "", "");
}

}  // namespace pyptox::agent
