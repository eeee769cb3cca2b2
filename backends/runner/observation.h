// What the parent saw of one case's launches: input of the judge. Plain values.
#ifndef PYPTOX_BACKENDS_RUNNER_OBSERVATION_H_
#define PYPTOX_BACKENDS_RUNNER_OBSERVATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/compare/compare.h"
#include "backends/runner/fp_control.h"
#include "backends/runner/launch_child.h"

namespace pyptox::runner {

// How the child ended before it was told to; kRunning when it did not. kNonsense: it sent what the protocol does not
// have, for a kernel wrote into the runner's channel.
enum class ChildEnd { kRunning, kSignal, kExit, kTimeout, kNonsense };

struct LaunchObservation {
  int32_t status = 0;
  FpControl after;
  uint64_t nanoseconds = 0;
};

// A sentence about the first stray effect of each kind, with the launch's number.
struct StrayEffects {
  std::optional<std::string> broken_guard;
  std::optional<std::string> changed_input;
  // An output of a launch that differs from the same output of the first launch.
  std::optional<std::string> differs_from_first;
  // An output that no launch wrote whole; seen from the second launch on.
  std::optional<std::string> unwritten;
  // An output or state that a refusing kernel wrote.
  std::optional<std::string> written_though_refused;
};

struct BufferObservation {
  std::string name;
  std::string sha256;
  std::string sha256_after;
  uint64_t bytes = 0;
  std::optional<compare::Comparison> comparison;
};

struct Observation {
  // A golden or input file that can't serve; then nothing was launched.
  std::optional<std::string> bad_file;
  // The machine lacks what the case needs; then nothing was launched.
  std::optional<std::string> blocked;
  uint32_t sve_vector_bytes = 0;
  // Set when the load came to its end.
  std::optional<LoadReport> load;
  std::string load_text;
  ChildEnd end = ChildEnd::kRunning;
  // Signal number or exit status, by `end`.
  int32_t end_value = 0;
  std::vector<LaunchObservation> launches;
  StrayEffects stray;
  std::vector<BufferObservation> inputs;
  std::vector<BufferObservation> outputs;
};

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_OBSERVATION_H_
