#include "backends/runner/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pyptox::runner {
namespace {

std::string FpChange(std::string_view who, const FpControl& before, const FpControl& after) {
  return fmt::format("{} changed the floating-point control state from {} {} to {} {}", who, ControlHex(before),
                     RoundingName(before), ControlHex(after), RoundingName(after));
}

std::string FirstDifference(const BufferObservation& output) {
  const compare::Comparison& c = *output.comparison;
  if (c.expected_bytes != c.actual_bytes) {
    return fmt::format("output {} has {} bytes, its golden {}", output.name, c.actual_bytes, c.expected_bytes);
  }
  return fmt::format("output {}: {} of {} elements differ, first at index {}: expected {} ({}), is {} ({})",
                     output.name, c.different, c.elements, c.first->index, c.first->expected_hex, c.first->expected,
                     c.first->actual_hex, c.first->actual);
}

// The child went away on its own: blamed on the load when the load had not ended.
Judgement EndedEarly(const Observation& seen) {
  const std::string when =
      seen.load.has_value() ? fmt::format("in launch {}", seen.launches.size() + 1) : "while the module was loaded";
  switch (seen.end) {
    case ChildEnd::kSignal:
      return {"CRASH", fmt::format("died by signal {} ({}) {}", seen.end_value, strsignal(seen.end_value), when)};
    case ChildEnd::kExit:
      return {"EXITED", fmt::format("the process exited with status {} {}", seen.end_value, when)};
    case ChildEnd::kNonsense:
      return {"CRASH", fmt::format("broke the conversation with the runner {}", when)};
    default:
      return {"HANG", fmt::format("did not end within its limit {}", when)};
  }
}

}  // namespace

Judgement Judge(const Manifest& manifest, const Observation& seen) {
  if (seen.bad_file.has_value()) return {"BAD_FILE", *seen.bad_file};
  if (seen.blocked.has_value()) return {"BLOCKED_DEVICE", *seen.blocked};
  if (seen.load.has_value() && seen.load->state == LoadState::kNoModule) {
    return {"NO_MODULE", fmt::format("{} can't be loaded: {}", manifest.module, seen.load_text)};
  }
  if (seen.load.has_value() && seen.load->state == LoadState::kNoSymbol) {
    return {"NO_SYMBOL", fmt::format("{}: {}", manifest.symbol, seen.load_text)};
  }
  // A broken guard explains a crash that follows it; so it is named first.
  if (seen.stray.broken_guard.has_value()) return {"OUT_OF_BOUNDS", *seen.stray.broken_guard};
  if (seen.end != ChildEnd::kRunning) return EndedEarly(seen);
  if (seen.load->before != seen.load->after) {
    return {"FP_ENVIRONMENT", FpChange("loading the module", seen.load->before, seen.load->after)};
  }
  for (const LaunchObservation& launch : seen.launches) {
    if (launch.status != manifest.expect_status) {
      return {"WRONG_STATUS", fmt::format("returned {}, expected is {}", launch.status, manifest.expect_status)};
    }
    if (launch.after != seen.load->after)
      return {"FP_ENVIRONMENT", FpChange("the kernel", seen.load->after, launch.after)};
  }
  if (seen.stray.changed_input.has_value()) return {"INPUT_CHANGED", *seen.stray.changed_input};
  if (seen.stray.written_though_refused.has_value()) return {"MISMATCH", *seen.stray.written_though_refused};
  if (seen.stray.differs_from_first.has_value()) return {"NOT_DETERMINISTIC", *seen.stray.differs_from_first};
  for (const BufferObservation& output : seen.outputs) {
    if (output.comparison.has_value() && !output.comparison->equal) return {"MISMATCH", FirstDifference(output)};
  }
  // After the comparison, which says more: what is left was not written and had the golden's bytes by chance.
  if (seen.stray.unwritten.has_value()) return {"MISMATCH", *seen.stray.unwritten};
  if (seen.launches.size() != manifest.repeat) return {"INFRA", "not every launch was made"};
  const auto goldens = std::count_if(manifest.buffers.begin(), manifest.buffers.end(),
                                     [](const BufferSpec& buffer) { return buffer.golden.has_value(); });
  const auto compared = std::count_if(seen.outputs.begin(), seen.outputs.end(),
                                      [](const BufferObservation& output) { return output.comparison.has_value(); });
  if (compared < goldens) return {"INFRA", "not every output was compared"};
  return {"PASS", ""};
}

}  // namespace pyptox::runner
