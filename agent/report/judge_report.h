// What a whole report and the program's exit status prove together. Pure.
#ifndef PYPTOX_AGENT_REPORT_JUDGE_REPORT_H_
#define PYPTOX_AGENT_REPORT_JUDGE_REPORT_H_

#include "agent/report/test_report.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Fills cases, coverage and not_covered of `evidence` out of the report and returns the step's outcome:
//   INFRA(report_disagrees)  the exit status is 0 with a failed case, or not 0 without one
//   NO_VERDICT(planned)      no case, or another number than planned
//   NO_VERDICT(coverage)     a wanted counter is missing; INFRA(report) when it has two values or counts
//                            more than there is
//   FAIL(cases)              a case failed
//   PASS                     else; skipped cases and incomplete coverage are listed in not_covered.
v1::Outcome JudgeReport(const TestReport& report, const v1::ReportStep& step, int exit_status, v1::Evidence* evidence);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_REPORT_JUDGE_REPORT_H_
