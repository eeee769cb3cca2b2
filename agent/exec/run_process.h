// Runs one program to its end, and everything that it started.
#ifndef PYPTOX_AGENT_EXEC_RUN_PROCESS_H_
#define PYPTOX_AGENT_EXEC_RUN_PROCESS_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "agent/exec/file_digests.h"
#include "agent/exec/process_outcome.h"
#include "agent/exec/process_spec.h"
#include "agent/exec/stop_signal.h"

namespace pyptox::agent {

// Gets standard output and error, merged, in pieces of at most 64 KiB, on the calling thread.
using OutputSink = std::function<void(std::string_view)>;

// Blocks until no process of the tree is left. Standard input is /dev/null. When the first process ends by itself, what
// it left behind is killed at once; on a limit or `stop` (may be null) every process gets TERM, and KILL after the
// grace.
//
// Errors, all meaning that the program never ran: NOT_FOUND or PERMISSION_DENIED from execve, and the errno of a failed
// fork, pipe or ptrace.
absl::StatusOr<ProcessOutcome> RunProcess(const ProcessSpec& spec, FileDigests* digests, const StopSignal* stop,
                                          const OutputSink& output);

// kTraced where a trial program can be traced and its opened files seen, else kSubreaper. Runs /bin/true once.
TreeMode ProbeTreeMode();

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_RUN_PROCESS_H_
