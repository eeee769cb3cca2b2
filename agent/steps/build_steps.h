// The steps before anything is proved: compile, and check what was compiled.
#ifndef PYPTOX_AGENT_STEPS_BUILD_STEPS_H_
#define PYPTOX_AGENT_STEPS_BUILD_STEPS_H_

#include <optional>
#include <string>

#include "agent/steps/attempt_context.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::agent {

// Measures a tool for the record: real binary, version line, digest. BLOCKED_TOOLCHAIN(absent) when it is not there.
std::optional<v1::Outcome> MeasureTool(AttemptContext& context, const std::string& name, const std::string& step);

// Runs compile step `number` (from 1). Nothing when its outputs are there, else the attempt's outcome:
// BLOCKED_TOOLCHAIN(absent), FAIL(compile), FAIL(no_output), or how it was ended.
std::optional<v1::Outcome> RunCompile(AttemptContext& context, const v1::CompileStep& step, int number);

// Runs check step `number` (from 1). Nothing when it holds, else FAIL(check), BLOCKED_TOOLCHAIN(absent),
// INFRA(disassembly) or how it was ended.
std::optional<v1::Outcome> RunCheck(AttemptContext& context, const v1::CheckStep& step, int number);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_BUILD_STEPS_H_
