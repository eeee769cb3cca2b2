// The parent's side: makes the buffers, forks the child, launches, and looks at memory after every launch.
#ifndef PYPTOX_BACKENDS_RUNNER_LAUNCH_H_
#define PYPTOX_BACKENDS_RUNNER_LAUNCH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "backends/runner/manifest.h"
#include "backends/runner/observation.h"

namespace pyptox::runner {

// What one case left: the observation, and each output's bytes after the first launch (in manifest order, empty before
// one).
struct LaunchOutcome {
  Observation seen;
  std::vector<std::vector<std::byte>> outputs;
};

// Blocks until every launch is over or the manifest's limit is reached; the child is gone when it returns. Errors are
// the host's (memory, fork), never the kernel's.
absl::StatusOr<LaunchOutcome> Launch(const Manifest& manifest);

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_LAUNCH_H_
