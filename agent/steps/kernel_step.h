// Launches the lane's cases through pyptox-runner, one process each, and judges every one again.
#ifndef PYPTOX_AGENT_STEPS_KERNEL_STEP_H_
#define PYPTOX_AGENT_STEPS_KERNEL_STEP_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/steps/attempt_context.h"
#include "agent/steps/source_files.h"
#include "backends/api/backend.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Why a case is left out on this lane; empty when it is not.
std::string SkipReason(const v1::Lane& lane, const std::string& name);

// The cases that the job asks for, in the suite's order.
std::vector<const v1::Case*> WantedCases(const v1::JobSpec& spec);

// Fills in cases and one step of the evidence. Nothing when all cases were launched, else how the attempt was ended or
// INFRA(disk_full); what the cases add up to is the caller's to say.
std::optional<v1::Outcome> RunKernels(AttemptContext& context, const backends::Plan& plan, const SourceFiles& sources);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_KERNEL_STEP_H_
