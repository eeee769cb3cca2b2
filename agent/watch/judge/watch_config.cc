#include "agent/watch/judge/watch_config.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace pyptox::agent {

v1::WatchConfig WithDefaults(v1::WatchConfig config) {
  if (config.interval_ms() == 0) config.set_interval_ms(config.kind() == v1::WATCH_KIND_NPU ? 2000 : 1000);
  if (config.tool_timeout_ms() == 0) config.set_tool_timeout_ms(10000);
  if (config.idle_samples() == 0) config.set_idle_samples(3);
  if (config.settle_ms() == 0) config.set_settle_ms(3000);
  if (config.baseline_samples() == 0) config.set_baseline_samples(10);
  if (config.utilization_margin_percent() == 0) config.set_utilization_margin_percent(10);
  if (config.power_margin_w() == 0) config.set_power_margin_w(20);
  if (config.clock_margin_percent() == 0) config.set_clock_margin_percent(25);
  if (config.memory_margin_mib() == 0) config.set_memory_margin_mib(256);
  if (config.cpu_limit_percent() == 0) config.set_cpu_limit_percent(5);
  if (config.runnable_limit_percent() == 0) config.set_runnable_limit_percent(25);
  if (config.pressure_limit_percent() == 0) config.set_pressure_limit_percent(10);
  if (config.idle_memory_percent() == 0) config.set_idle_memory_percent(20);
  return config;
}

absl::Status CheckWatchConfig(const v1::WatchConfig& config) {
  if (config.kind() != v1::WATCH_KIND_NVIDIA && config.kind() != v1::WATCH_KIND_NPU &&
      config.kind() != v1::WATCH_KIND_CPU) {
    return absl::InvalidArgumentError("kind: is neither nvidia, npu nor cpu");
  }
  if (config.kind() != v1::WATCH_KIND_CPU && !config.tool().starts_with('/')) {
    return absl::InvalidArgumentError(fmt::format("tool: '{}' is no absolute path", config.tool()));
  }
  const struct {
    std::string_view name;
    double value;
    double most;
  } kNumbers[] = {{"utilization_margin_percent", config.utilization_margin_percent(), 100},
                  {"power_margin_w", config.power_margin_w(), 1e6},
                  {"clock_margin_percent", config.clock_margin_percent(), 100},
                  {"aicore_limit_percent", config.aicore_limit_percent(), 100},
                  {"cpu_limit_percent", config.cpu_limit_percent(), 100},
                  {"runnable_limit_percent", config.runnable_limit_percent(), 1e6},
                  {"pressure_limit_percent", config.pressure_limit_percent(), 100},
                  {"idle_memory_percent", config.idle_memory_percent(), 100}};
  for (const auto& number : kNumbers) {
    // Not-a-number compares false, and a limit that is one would never be exceeded.
    if (number.value >= 0 && number.value <= number.most) continue;
    return absl::InvalidArgumentError(
        fmt::format("{}: {} is not from 0 to {}", number.name, number.value, number.most));
  }
  // With a larger margin the comparison with what is in use could overflow; no card has that much.
  if (config.memory_margin_mib() > (uint64_t{1} << 40)) {
    return absl::InvalidArgumentError(fmt::format("memory_margin_mib: {} is too much", config.memory_margin_mib()));
  }
  return absl::OkStatus();
}

std::string DeviceName(const v1::WatchConfig& config) {
  switch (config.kind()) {
    case v1::WATCH_KIND_NVIDIA:
      return fmt::format("gpu {}", config.gpu_index());
    case v1::WATCH_KIND_NPU:
      return fmt::format("npu {} chip {}", config.npu_id(), config.chip_id());
    case v1::WATCH_KIND_CPU:
      return config.cpus().empty() ? "cpu" : fmt::format("cpu {}", config.cpus());
    default:
      return "no device";
  }
}

}  // namespace pyptox::agent
