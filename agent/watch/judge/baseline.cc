#include "agent/watch/judge/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "agent/watch/judge/watch_config.h"

namespace pyptox::agent {
namespace {

// As load.proto says of LoadBaseline.readings: at one a minute about an hour.
constexpr int kMaxReadings = 64;

// Nearest rank, as in DESIGN section 8. None of nothing.
std::optional<double> Median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

bool IsSameCard(const v1::WatchConfig& config, const v1::LoadBaseline& baseline, std::string_view driver) {
  return baseline.kind() == config.kind() && baseline.device() == DeviceName(config) && baseline.driver() == driver;
}

// What an idle sample shows, or why it is not one.
struct Reading {
  v1::IdleReading values;
  std::string refusal;
};

std::string MemoryRefusal(const v1::WatchConfig& config, std::optional<uint64_t> used, std::optional<uint64_t> total) {
  if (!used.has_value() || !total.has_value() || *total == 0) return "memory is unknown";
  if (static_cast<double>(*used) * 100 <= static_cast<double>(*total) * config.idle_memory_percent()) return "";
  return fmt::format("{} of {} MiB are in use", *used, *total);
}

Reading ReadGpu(const v1::WatchConfig& config, const v1::GpuLoad& gpu) {
  Reading reading;
  if (!gpu.processes_listed()) return {{}, "processes are not listed"};
  if (gpu.processes_size() > 0) return {{}, fmt::format("{} processes are there", gpu.processes_size())};
  if (!gpu.has_utilization_percent()) return {{}, "utilisation is unknown"};
  if (gpu.utilization_percent() > config.utilization_margin_percent()) {
    return {{}, fmt::format("utilisation is {:.0f} %", gpu.utilization_percent())};
  }
  reading.refusal =
      MemoryRefusal(config, gpu.has_memory_used_mib() ? std::optional<uint64_t>(gpu.memory_used_mib()) : std::nullopt,
                    gpu.has_memory_total_mib() ? std::optional<uint64_t>(gpu.memory_total_mib()) : std::nullopt);
  reading.values.set_utilization_percent(gpu.utilization_percent());
  reading.values.set_memory_used_mib(gpu.memory_used_mib());
  if (gpu.has_power_w()) reading.values.set_power_w(gpu.power_w());
  if (gpu.has_sm_clock_mhz()) reading.values.set_sm_clock_mhz(gpu.sm_clock_mhz());
  return reading;
}

Reading ReadNpu(const v1::WatchConfig& config, const v1::NpuLoad& npu) {
  Reading reading;
  if (!npu.processes_listed()) return {{}, "processes are not listed"};
  if (npu.processes_size() > 0) return {{}, fmt::format("{} processes are there", npu.processes_size())};
  if (!npu.has_aicore_percent()) return {{}, "AICore is unknown"};
  if (npu.aicore_percent() > config.aicore_limit_percent()) {
    return {{}, fmt::format("AICore is {:.0f} %", npu.aicore_percent())};
  }
  reading.refusal =
      MemoryRefusal(config, npu.has_hbm_used_mib() ? std::optional<uint64_t>(npu.hbm_used_mib()) : std::nullopt,
                    npu.has_hbm_total_mib() ? std::optional<uint64_t>(npu.hbm_total_mib()) : std::nullopt);
  reading.values.set_utilization_percent(npu.aicore_percent());
  reading.values.set_memory_used_mib(npu.hbm_used_mib());
  if (npu.has_power_w()) reading.values.set_power_w(npu.power_w());
  return reading;
}

}  // namespace

std::string DriverOf(const v1::LoadSample& sample) {
  return sample.has_gpu() ? sample.gpu().driver() : sample.has_npu() ? sample.npu().driver() : "";
}

IdleLevel IdleLevelOf(const v1::WatchConfig& config, const v1::LoadBaseline& baseline, std::string_view driver) {
  IdleLevel level;
  level.driver = std::string(driver);
  if (!IsSameCard(config, baseline, driver)) return level;
  std::vector<double> utilization, power, clock;
  std::optional<uint64_t> memory;
  for (const v1::IdleReading& reading : baseline.readings()) {
    // A file that somebody edited may have readings without memory: they are none.
    if (!reading.has_memory_used_mib()) continue;
    ++level.readings;
    memory = std::min(memory.value_or(reading.memory_used_mib()), reading.memory_used_mib());
    if (reading.has_utilization_percent()) utilization.push_back(reading.utilization_percent());
    if (reading.has_power_w()) power.push_back(reading.power_w());
    if (reading.has_sm_clock_mhz()) clock.push_back(reading.sm_clock_mhz());
  }
  level.learned = level.readings >= std::min<uint64_t>(config.baseline_samples(), kMaxReadings);
  if (!level.learned || level.readings == 0)
    return {.learned = false, .readings = level.readings, .driver = level.driver};
  level.utilization_percent = Median(utilization);
  level.power_w = Median(power);
  level.sm_clock_mhz = Median(clock);
  level.memory_used_mib = memory;
  return level;
}

std::string LearnIdle(const v1::WatchConfig& config, const v1::LoadSample& sample, v1::LoadBaseline* baseline) {
  if (!sample.fault().empty()) return sample.fault();
  if (!sample.has_gpu() && !sample.has_npu()) return "only GPUs and NPUs have a baseline";
  if (sample.has_gpu() != (config.kind() == v1::WATCH_KIND_NVIDIA)) return "the sample is of another kind of device";
  const Reading reading = sample.has_gpu() ? ReadGpu(config, sample.gpu()) : ReadNpu(config, sample.npu());
  if (!reading.refusal.empty()) return reading.refusal;
  const std::string driver = DriverOf(sample);
  if (driver.empty()) return "the driver is unknown";
  const IdleLevel level = IdleLevelOf(config, *baseline, driver);
  if (level.learned && reading.values.memory_used_mib() > *level.memory_used_mib + config.memory_margin_mib()) {
    return fmt::format("{} MiB are in use, {} MiB when idle", reading.values.memory_used_mib(), *level.memory_used_mib);
  }
  if (level.power_w.has_value() && reading.values.power_w() > *level.power_w + config.power_margin_w()) {
    return fmt::format("power is {:.1f} W, {:.1f} W when idle", reading.values.power_w(), *level.power_w);
  }
  if (!IsSameCard(config, *baseline, driver)) {
    baseline->Clear();
    baseline->set_kind(config.kind());
    baseline->set_device(DeviceName(config));
    baseline->set_driver(driver);
  }
  if (baseline->readings_size() >= kMaxReadings) {
    baseline->mutable_readings()->DeleteSubrange(0, baseline->readings_size() - kMaxReadings + 1);
  }
  *baseline->add_readings() = reading.values;
  baseline->set_count(baseline->count() + 1);
  return "";
}

std::string BaselineText(const v1::WatchConfig& config, const v1::LoadBaseline& baseline) {
  const IdleLevel level = IdleLevelOf(config, baseline, baseline.driver());
  if (!level.learned) {
    return fmt::format("{} idle: {} of {} samples, not learned", DeviceName(config), level.readings,
                       config.baseline_samples());
  }
  std::string text = fmt::format("{} idle: {} MiB", DeviceName(config), *level.memory_used_mib);
  if (level.power_w.has_value()) text += fmt::format(", {:.1f} W", *level.power_w);
  if (level.sm_clock_mhz.has_value()) text += fmt::format(", {:.0f} MHz", *level.sm_clock_mhz);
  if (level.utilization_percent.has_value()) text += fmt::format(", {:.0f} %", *level.utilization_percent);
  return text + fmt::format(" ({} samples, driver {})", baseline.count(), baseline.driver());
}

}  // namespace pyptox::agent
