// Configurations, baselines and samples that tests of the watchers start from: an idle device, to be changed in one
// place.
#ifndef PYPTOX_TESTS_UNIT_AGENT_WATCH_LOAD_VALUES_H_
#define PYPTOX_TESTS_UNIT_AGENT_WATCH_LOAD_VALUES_H_

#include <string>

#include "agent/watch/judge/baseline.h"
#include "agent/watch/judge/watch_config.h"

namespace pyptox::agent {

inline v1::WatchConfig GpuConfig(v1::ProcessView view = v1::PROCESS_VIEW_WHOLE) {
  v1::WatchConfig config;
  config.set_kind(v1::WATCH_KIND_NVIDIA);
  config.set_tool("/usr/bin/nvidia-smi");
  config.set_process_view(view);
  return WithDefaults(config);
}

inline v1::WatchConfig NpuConfig(v1::ProcessView view = v1::PROCESS_VIEW_WHOLE) {
  v1::WatchConfig config;
  config.set_kind(v1::WATCH_KIND_NPU);
  config.set_tool("/usr/local/bin/npu-smi");
  config.set_npu_id(7);
  config.set_chip_id(1);
  config.set_process_view(view);
  return WithDefaults(config);
}

inline v1::WatchConfig CpuConfig() {
  v1::WatchConfig config;
  config.set_kind(v1::WATCH_KIND_CPU);
  return WithDefaults(config);
}

// Of the RTX 5080 fixture.
inline v1::LoadSample IdleGpu() {
  v1::LoadSample sample;
  sample.mutable_gpu()->set_utilization_percent(3);
  sample.mutable_gpu()->set_sm_clock_mhz(427);
  sample.mutable_gpu()->set_max_sm_clock_mhz(3090);
  sample.mutable_gpu()->set_power_w(22);
  sample.mutable_gpu()->set_memory_used_mib(1412);
  sample.mutable_gpu()->set_memory_total_mib(16303);
  sample.mutable_gpu()->set_driver("610.62");
  sample.mutable_gpu()->set_processes_listed(true);
  return sample;
}

// Of the A3 fixtures.
inline v1::LoadSample IdleNpu() {
  v1::LoadSample sample;
  sample.mutable_npu()->set_npu_id(7);
  sample.mutable_npu()->set_chip_id(1);
  sample.mutable_npu()->set_phy_id(15);
  sample.mutable_npu()->set_health("OK");
  sample.mutable_npu()->set_aicore_percent(0);
  sample.mutable_npu()->set_hbm_used_mib(2888);
  sample.mutable_npu()->set_hbm_total_mib(65536);
  sample.mutable_npu()->set_driver("26.1.1");
  sample.mutable_npu()->set_processes_listed(true);
  return sample;
}

// 12 CPUs, of which others use a hundredth; two runnable threads, of which one is the sampler.
inline v1::LoadSample IdleCpu() {
  v1::LoadSample sample;
  sample.mutable_cpu()->set_cpus(12);
  sample.mutable_cpu()->set_load1(0.2);
  sample.mutable_cpu()->set_runnable(2);
  sample.mutable_cpu()->set_own_runnable(1);
  sample.mutable_cpu()->set_pressure_some_avg10(0.17);
  sample.mutable_cpu()->set_pressure_total_us(54649503);
  sample.mutable_cpu()->set_used_seconds(1000);
  sample.mutable_cpu()->set_own_seconds(10);
  sample.mutable_cpu()->set_stolen_seconds(1);
  sample.mutable_cpu()->set_foreign_cpus(0.12);
  sample.mutable_cpu()->set_stolen_cpus(0);
  sample.mutable_cpu()->set_pressure_percent(0.2);
  return sample;
}

inline v1::LoadProcess Process(uint64_t pid, bool ours, uint64_t memory_mib = 0, const std::string& name = "") {
  v1::LoadProcess process;
  process.set_pid(pid);
  process.set_ours(ours);
  if (memory_mib > 0) process.set_memory_mib(memory_mib);
  process.set_name(name);
  return process;
}

// Learned from `sample` alone, as often as is needed.
inline v1::LoadBaseline BaselineOf(const v1::WatchConfig& config, const v1::LoadSample& sample) {
  v1::LoadBaseline baseline;
  for (uint32_t i = 0; i < config.baseline_samples(); ++i) LearnIdle(config, sample, &baseline);
  return baseline;
}

inline IdleLevel LevelOf(const v1::WatchConfig& config, const v1::LoadSample& sample) {
  return IdleLevelOf(config, BaselineOf(config, sample), DriverOf(sample));
}

}  // namespace pyptox::agent

#endif  // PYPTOX_TESTS_UNIT_AGENT_WATCH_LOAD_VALUES_H_
