// Runs any program, reads its report and compares what it made.
#ifndef PYPTOX_AGENT_STEPS_RUN_STEP_H_
#define PYPTOX_AGENT_STEPS_RUN_STEP_H_

#include "agent/steps/attempt_context.h"
#include "agent/steps/source_files.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Fills in steps, cases and coverage of the evidence, and returns the attempt's outcome:
//   BLOCKED_TOOLCHAIN(absent)  the program is not there
//   FAIL(run)                  it died by a signal, or failed without a report to say why
//   INFRA(report)              its report is missing, was there before, or can't be read to its end
//   what JudgeReport says (agent/report/judge_report.h), or the cases together with those of `compare`.
v1::Outcome RunProgram(AttemptContext& context, const SourceFiles& sources);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_RUN_STEP_H_
