// The child's side: loads the module and launches the kernel on command. Nothing it says is believed unchecked; the
// parent looks at memory itself.
//
// Protocol over one socket pair: after the load the child sends a LoadReport (fixed size, then `text_bytes` of text).
// For each LaunchCommand byte that it receives it launches once and sends a LaunchReport. End of stream ends the child.
#ifndef PYPTOX_BACKENDS_RUNNER_LAUNCH_CHILD_H_
#define PYPTOX_BACKENDS_RUNNER_LAUNCH_CHILD_H_

#include <cstdint>
#include <vector>

#include "backends/runner/fp_control.h"
#include "backends/runner/manifest.h"
#include "backends/runner/pyptox_kernel.h"

namespace pyptox::runner {

enum class LoadState : uint32_t { kLoaded = 0, kNoModule = 1, kNoSymbol = 2 };

struct LoadReport {
  uint32_t magic = kMagic;
  LoadState state = LoadState::kLoaded;
  FpControl before;
  FpControl after;
  // For kLoaded: the mapped objects, a newline after each. Else the loader's message.
  uint32_t text_bytes = 0;

  static constexpr uint32_t kMagic = 0x50594c44;
  static constexpr uint32_t kMaxText = 1 << 20;
};

struct LaunchReport {
  uint32_t magic = kMagic;
  uint32_t number = 0;
  int32_t status = 0;
  FpControl after;
  uint64_t nanoseconds = 0;

  static constexpr uint32_t kMagic = 0x50594c52;
};

// The launch as the kernel sees it. Points into `buffers`, `shapes` and `params`, which it owns.
struct LaunchArguments {
  std::vector<pyptox_buffer> buffers;
  std::vector<pyptox_param> params;
  pyptox_launch launch{};
};

// Runs in the forked child and never returns. `channel` is the child's end.
[[noreturn]] void RunLaunchChild(const Manifest& manifest, const LaunchArguments& arguments, int channel);

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_LAUNCH_CHILD_H_
