// Runs `TOOL --version` for measurements: short, small, and with nothing of it in a log.
#ifndef PYPTOX_AGENT_STEPS_TOOL_RUNNER_H_
#define PYPTOX_AGENT_STEPS_TOOL_RUNNER_H_

#include <string>

#include "agent/exec/file_digests.h"
#include "agent/exec/process_spec.h"
#include "agent/probe/toolchain.h"

namespace pyptox::agent {

// At most 10 s and 64 KiB; output past that is dropped. `path` and `home` are the tool's environment, `digests`
// outlives the runner.
RunTool MakeToolRunner(TreeMode mode, std::string path, std::string home, FileDigests* digests);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_TOOL_RUNNER_H_
