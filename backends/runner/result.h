// Writes what a case left: the result file (pyptox.v1.LaunchResult as JSON) and the outputs.
#ifndef PYPTOX_BACKENDS_RUNNER_RESULT_H_
#define PYPTOX_BACKENDS_RUNNER_RESULT_H_

#include <string>

#include "absl/status/status.h"
#include "backends/runner/judge.h"
#include "backends/runner/launch.h"
#include "nlohmann/json.hpp"

namespace pyptox::runner {

nlohmann::json ResultJson(const Judgement& judgement, const Observation& seen);

// `NAME.bin` of each output, and `outputs.safetensors` when the manifest asks for it. Nothing when no launch ended.
absl::Status WriteOutputs(const Manifest& manifest, const LaunchOutcome& outcome);

// The safetensors form of the outputs: 8-byte little-endian header length, JSON header, data.
std::string Safetensors(const Manifest& manifest, const LaunchOutcome& outcome);

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_RESULT_H_
