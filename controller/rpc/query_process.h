// Runs one read-only SQL statement in a process of its own (docs/adr/0004).
#ifndef PYPTOX_CONTROLLER_RPC_QUERY_PROCESS_H_
#define PYPTOX_CONTROLLER_RPC_QUERY_PROCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/time_types.h"

namespace pyptox::controller {

// How the worker is started and what it may use. It limits its own memory; time and output are limited here.
struct QueryProcess {
  // Program and arguments. It reads SQL from stdin and writes its answer to stdout and exits 0; or words for the
  // person who asked to stderr and exits 65 (bad SQL) or 69 (a limit was passed).
  std::vector<std::string> argv;
  Duration time_limit = Seconds(2);
  size_t max_output_bytes = 32 << 20;
};

// The worker's answer. INVALID_ARGUMENT with its words for bad SQL, RESOURCE_EXHAUSTED past a limit. Blocks; the
// worker is dead and reaped when this returns. SIGPIPE must be ignored in this process.
absl::StatusOr<std::string> RunQueryProcess(const QueryProcess& process, const std::string& sql);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_QUERY_PROCESS_H_
