// How the watchers run nvidia-smi and npu-smi. agent/exec has a runner; the agent's main ties them together.
#ifndef PYPTOX_AGENT_WATCH_TOOL_CALL_H_
#define PYPTOX_AGENT_WATCH_TOOL_CALL_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/watch/parse/tool_answer.h"
#include "base/time_types.h"

namespace pyptox::agent {

// Output past this ends a call as truncated. A table of sixteen chips is 9 KiB; a thousand processes more are 120 KiB.
inline constexpr size_t kMaxToolBytes = size_t{1} << 20;

// Runs argv[0] (an absolute path) to its end, or kills it with all that it started after `timeout` or when it wrote
// more than kMaxToolBytes. Blocks no longer than the timeout and the kill take. A status when it could not be started.
using CallTool = std::function<absl::StatusOr<ToolAnswer>(const std::vector<std::string>& argv, Duration timeout)>;

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_TOOL_CALL_H_
