#include "agent/watch/judge/watch_config.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/agent/watch/load_values.h"

namespace pyptox::agent {
namespace {

TEST(WatchConfig, DefaultsAreWhatTheContractSays) {
  v1::WatchConfig config;
  config.set_kind(v1::WATCH_KIND_NPU);
  EXPECT_EQ(WithDefaults(config).ShortDebugString(),
            "kind: WATCH_KIND_NPU interval_ms: 2000 tool_timeout_ms: 10000 idle_samples: 3 settle_ms: 3000 "
            "baseline_samples: 10 utilization_margin_percent: 10 power_margin_w: 20 clock_margin_percent: 25 "
            "memory_margin_mib: 256 cpu_limit_percent: 5 runnable_limit_percent: 25 pressure_limit_percent: 10 "
            "idle_memory_percent: 20");
  config.set_kind(v1::WATCH_KIND_NVIDIA);
  EXPECT_EQ(WithDefaults(config).interval_ms(), 1000u);
  config.set_power_margin_w(7);
  EXPECT_EQ(WithDefaults(config).power_margin_w(), 7);
}

TEST(WatchConfig, LimitsThatNothingExceedsAreRefused) {
  EXPECT_TRUE(CheckWatchConfig(GpuConfig()).ok());
  EXPECT_TRUE(CheckWatchConfig(CpuConfig()).ok());
  v1::WatchConfig config = GpuConfig();
  config.set_tool("nvidia-smi");
  EXPECT_EQ(CheckWatchConfig(config).message(), "tool: 'nvidia-smi' is no absolute path");
  config = GpuConfig();
  config.clear_kind();
  EXPECT_EQ(CheckWatchConfig(config).message(), "kind: is neither nvidia, npu nor cpu");
  config = CpuConfig();
  config.set_cpu_limit_percent(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(CheckWatchConfig(config).message(), "cpu_limit_percent: nan is not from 0 to 100");
  config = GpuConfig();
  config.set_power_margin_w(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(CheckWatchConfig(config).ok());
  config = GpuConfig();
  config.set_utilization_margin_percent(-1);
  EXPECT_FALSE(CheckWatchConfig(config).ok());
  config = NpuConfig();
  config.set_memory_margin_mib(std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(CheckWatchConfig(config).ok());
}

TEST(WatchConfig, Names) {
  EXPECT_EQ(DeviceName(GpuConfig()), "gpu 0");
  EXPECT_EQ(DeviceName(NpuConfig()), "npu 7 chip 1");
  v1::WatchConfig config = CpuConfig();
  EXPECT_EQ(DeviceName(config), "cpu");
  config.set_cpus("560-639");
  EXPECT_EQ(DeviceName(config), "cpu 560-639");
}

}  // namespace
}  // namespace pyptox::agent
