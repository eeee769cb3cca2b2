#include "agent/watch/judge/baseline.h"

#include <gtest/gtest.h>

#include <string>

#include "base/message_json.h"
#include "tests/unit/agent/watch/load_values.h"

namespace pyptox::agent {
namespace {

TEST(Baseline, LearnedWithTheTenthReading) {
  const v1::WatchConfig config = GpuConfig();
  v1::LoadBaseline baseline;
  for (int i = 1; i <= 10; ++i) {
    EXPECT_FALSE(IdleLevelOf(config, baseline, "610.62").learned) << i;
    EXPECT_EQ(LearnIdle(config, IdleGpu(), &baseline), "");
  }
  const IdleLevel level = IdleLevelOf(config, baseline, "610.62");
  EXPECT_TRUE(level.learned);
  EXPECT_EQ(level.readings, 10u);
  EXPECT_EQ(BaselineText(config, baseline), "gpu 0 idle: 1412 MiB, 22.0 W, 427 MHz, 3 % (10 samples, driver 610.62)");
}

TEST(Baseline, UnlearnedLevelsAreAbsentAndShown) {
  const v1::WatchConfig config = GpuConfig();
  v1::LoadBaseline baseline;
  for (int i = 0; i < 4; ++i) LearnIdle(config, IdleGpu(), &baseline);
  EXPECT_FALSE(IdleLevelOf(config, baseline, "610.62").memory_used_mib.has_value());
  EXPECT_EQ(BaselineText(config, baseline), "gpu 0 idle: 4 of 10 samples, not learned");
}

TEST(Baseline, MemoryIsTheMinimumAndTheOthersAreMedians) {
  const v1::WatchConfig config = GpuConfig();
  v1::LoadBaseline baseline;
  for (int i = 0; i < 11; ++i) {
    v1::LoadSample sample = IdleGpu();
    sample.mutable_gpu()->set_memory_used_mib(1400 + 10 * ((i * 7) % 11));
    sample.mutable_gpu()->set_power_w(20 + (i * 7) % 11);
    sample.mutable_gpu()->set_sm_clock_mhz(400 + (i * 7) % 11);
    sample.mutable_gpu()->set_utilization_percent((i * 7) % 11 == 10 ? 9 : 0);
    ASSERT_EQ(LearnIdle(config, sample, &baseline), "");
  }
  const IdleLevel level = IdleLevelOf(config, baseline, "610.62");
  EXPECT_EQ(level.memory_used_mib, 1400u);
  EXPECT_EQ(level.power_w, 25.0);
  EXPECT_EQ(level.sm_clock_mhz, 405.0);
  EXPECT_EQ(level.utilization_percent, 0.0);
}

TEST(Baseline, WhatMayBeLoadIsNotLearned) {
  const v1::WatchConfig config = GpuConfig();
  v1::LoadBaseline baseline;
  v1::LoadSample sample = IdleGpu();
  *sample.mutable_gpu()->add_processes() = Process(5, false);
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "1 processes are there");
  sample = IdleGpu();
  sample.mutable_gpu()->set_processes_listed(false);
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "processes are not listed");
  sample = IdleGpu();
  sample.mutable_gpu()->set_utilization_percent(11);
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "utilisation is 11 %");
  sample.mutable_gpu()->clear_utilization_percent();
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "utilisation is unknown");
  sample = IdleGpu();
  // A paused game: nothing computes, 4 GB are held.
  sample.mutable_gpu()->set_utilization_percent(0);
  sample.mutable_gpu()->set_memory_used_mib(4096);
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "4096 of 16303 MiB are in use");
  sample.mutable_gpu()->clear_memory_used_mib();
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "memory is unknown");
  sample = IdleGpu();
  sample.mutable_gpu()->clear_driver();
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "the driver is unknown");
  sample = IdleGpu();
  sample.set_fault("nvidia-smi did not answer in time");
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "nvidia-smi did not answer in time");
  EXPECT_EQ(LearnIdle(config, IdleNpu(), &baseline), "the sample is of another kind of device");
  EXPECT_EQ(LearnIdle(CpuConfig(), IdleCpu(), &baseline), "only GPUs and NPUs have a baseline");
  v1::LoadSample npu = IdleNpu();
  npu.mutable_npu()->set_aicore_percent(1);
  EXPECT_EQ(LearnIdle(NpuConfig(), npu, &baseline), "AICore is 1 %");
  npu = IdleNpu();
  *npu.mutable_npu()->add_processes() = Process(5, true);
  EXPECT_EQ(LearnIdle(NpuConfig(), npu, &baseline), "1 processes are there");
  EXPECT_EQ(baseline.ByteSizeLong(), 0u);
}

TEST(Baseline, ALearnedLevelIsNotPulledUp) {
  const v1::WatchConfig config = GpuConfig();
  v1::LoadBaseline baseline = BaselineOf(config, IdleGpu());
  v1::LoadSample sample = IdleGpu();
  sample.mutable_gpu()->set_memory_used_mib(1412 + 257);
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "1669 MiB are in use, 1412 MiB when idle");
  sample = IdleGpu();
  sample.mutable_gpu()->set_power_w(42.5);
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "power is 42.5 W, 22.0 W when idle");
  sample = IdleGpu();
  sample.mutable_gpu()->set_memory_used_mib(1000);
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "");
  EXPECT_EQ(IdleLevelOf(config, baseline, "610.62").memory_used_mib, 1000u);
}

TEST(Baseline, AnotherDriverStartsAnew) {
  const v1::WatchConfig config = NpuConfig();
  v1::LoadBaseline baseline = BaselineOf(config, IdleNpu());
  EXPECT_TRUE(IdleLevelOf(config, baseline, "26.1.1").learned);
  EXPECT_FALSE(IdleLevelOf(config, baseline, "26.1.2").learned);
  v1::LoadSample sample = IdleNpu();
  sample.mutable_npu()->set_driver("26.1.2");
  EXPECT_EQ(LearnIdle(config, sample, &baseline), "");
  EXPECT_EQ(baseline.readings_size(), 1);
  EXPECT_EQ(baseline.count(), 1u);
  EXPECT_EQ(baseline.driver(), "26.1.2");
  v1::WatchConfig other = config;
  other.set_chip_id(0);
  EXPECT_FALSE(IdleLevelOf(other, BaselineOf(config, IdleNpu()), "26.1.1").learned);
}

TEST(Baseline, KeepsTheLastSixtyFourReadings) {
  const v1::WatchConfig config = NpuConfig();
  v1::LoadBaseline baseline;
  for (int i = 0; i < 100; ++i) {
    v1::LoadSample sample = IdleNpu();
    sample.mutable_npu()->set_hbm_used_mib(2800 + i);
    ASSERT_EQ(LearnIdle(config, sample, &baseline), "");
  }
  EXPECT_EQ(baseline.readings_size(), 64);
  EXPECT_EQ(baseline.count(), 100u);
  EXPECT_EQ(IdleLevelOf(config, baseline, "26.1.1").memory_used_mib, 2836u);
}

TEST(Baseline, SurvivesItsFile) {
  const v1::LoadBaseline baseline = BaselineOf(GpuConfig(), IdleGpu());
  const auto json = MessageToCanonicalJson(baseline);
  ASSERT_TRUE(json.ok());
  v1::LoadBaseline read;
  ASSERT_TRUE(JsonToMessage(*json, "baseline", &read).ok());
  EXPECT_EQ(read.SerializeAsString(), baseline.SerializeAsString());
}

}  // namespace
}  // namespace pyptox::agent
