#include "agent/watch/cpu_counters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/unit/agent/watch/fake_proc.h"
#include "tests/unit/agent/watch/fixture.h"

namespace pyptox::agent {
namespace {

constexpr int64_t kTicks = 100;

class CpuCountersTest : public ::testing::Test {
 protected:
  // Two CPUs; `own` of 10's ticks.
  void Set(uint64_t cpu0, uint64_t cpu1, uint64_t stolen, uint64_t own, uint64_t pressure_us) {
    proc_.Write("stat", fmt::format("cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 {} 0 0 5 5 0 0 {} 0 0\ncpu1 0 0 {} 5 5 0 0 0 0 0\n",
                                    cpu0, stolen, cpu1));
    proc_.Write("loadavg", "11.82 9.40 6.13 14/512 90210\n");
    proc_.Write("pressure/cpu", fmt::format("some avg10=0.17 avg60=2.02 avg300=4.59 total={}\n", pressure_us));
    const std::string none;
    proc_.Add({.pid = 10, .own_ticks = own, .state = 'R'}, &none);
  }

  FakeProc proc_;
};

TEST_F(CpuCountersTest, TheFirstReadingHasNothingToCompareWith) {
  CpuCounters counters(proc_.path(), {}, kTicks);
  Set(100, 200, 7, 50, 1000);
  EXPECT_EQ(counters.Read({10}, MonoTime{0}).ShortDebugString(),
            "cpus: 2 load1: 11.82 runnable: 14 own_runnable: 1 pressure_some_avg10: 0.17 pressure_total_us: 1000 "
            "used_seconds: 3 own_seconds: 0.5 stolen_seconds: 0.07");
}

TEST_F(CpuCountersTest, OthersAreAllLessOurs) {
  CpuCounters counters(proc_.path(), {}, kTicks);
  Set(100, 200, 0, 50, 1'000'000);
  counters.Read({10}, MonoTime{0});
  // In two seconds: 150 + 50 ticks by all, 120 by us, 30 stolen; half a second of waiting.
  Set(250, 250, 30, 170, 1'500'000);
  const v1::CpuLoad load = counters.Read({10}, MonoTime{2'000'000'000});
  EXPECT_DOUBLE_EQ(load.foreign_cpus(), 0.4);
  EXPECT_DOUBLE_EQ(load.stolen_cpus(), 0.15);
  EXPECT_DOUBLE_EQ(load.pressure_percent(), 25);
  // Ticks are coarse: more of ours than of all is none of others.
  Set(251, 250, 30, 190, 1'500'000);
  EXPECT_EQ(counters.Read({10}, MonoTime{3'000'000'000}).foreign_cpus(), 0);
}

TEST_F(CpuCountersTest, OnlySomeCpus) {
  CpuCounters counters(proc_.path(), {1}, kTicks);
  Set(100, 200, 7, 0, 0);
  counters.Read({10}, MonoTime{0});
  Set(900, 250, 90, 0, 0);
  const v1::CpuLoad load = counters.Read({10}, MonoTime{1'000'000'000});
  EXPECT_EQ(load.cpus(), 1u);
  EXPECT_TRUE(load.part_of_host());
  EXPECT_DOUBLE_EQ(load.foreign_cpus(), 0.5);
  EXPECT_EQ(load.stolen_cpus(), 0);
}

TEST_F(CpuCountersTest, WhatCannotBeReadIsUnknownWithItsReason) {
  CpuCounters counters(proc_.path(), {}, kTicks);
  const v1::CpuLoad load = counters.Read({10}, MonoTime{0});
  EXPECT_FALSE(load.has_used_seconds());
  EXPECT_FALSE(load.has_own_seconds());
  EXPECT_FALSE(load.has_runnable());
  EXPECT_FALSE(load.has_pressure_total_us());
  ASSERT_EQ(load.unknown_size(), 4);
  EXPECT_EQ(load.unknown(0), proc_.path() + "/10: can't be read, but is ours");
  EXPECT_EQ(load.unknown(3), proc_.path() + "/pressure/cpu: No such file or directory");
}

TEST_F(CpuCountersTest, WithoutPressureTheRestIsRead) {
  CpuCounters counters(proc_.path(), {}, kTicks);
  Set(100, 200, 0, 50, 0);
  proc_.Write("pressure/cpu", Fixture("proc_pressure_disabled.err.txt"));
  counters.Read({10}, MonoTime{0});
  const v1::CpuLoad load = counters.Read({10}, MonoTime{1'000'000'000});
  EXPECT_FALSE(load.has_pressure_percent());
  EXPECT_TRUE(load.has_foreign_cpus());
  ASSERT_EQ(load.unknown_size(), 1);
  EXPECT_EQ(load.unknown(0), "pressure: can't be read: cat: /proc/pressure/memory: Operation not supported");
}

// A mean over the gap, not over the last interval: nothing is lost behind a reading that failed.
TEST_F(CpuCountersTest, ComparesAcrossAFailedReading) {
  CpuCounters counters(proc_.path(), {}, kTicks);
  Set(100, 0, 0, 0, 0);
  counters.Read({10}, MonoTime{0});
  proc_.Write("stat", "nothing\n");
  EXPECT_FALSE(counters.Read({10}, MonoTime{1'000'000'000}).has_foreign_cpus());
  Set(300, 0, 0, 0, 0);
  EXPECT_DOUBLE_EQ(counters.Read({10}, MonoTime{2'000'000'000}).foreign_cpus(), 1);
}

TEST_F(CpuCountersTest, ThisHost) {
  CpuCounters counters("/proc", {}, sysconf(_SC_CLK_TCK));
  const v1::CpuLoad load = counters.Read({static_cast<uint64_t>(getpid())}, MonoTime{0});
  EXPECT_TRUE(load.has_used_seconds());
  EXPECT_TRUE(load.has_runnable());
  EXPECT_GE(load.cpus(), 1u);
}

}  // namespace
}  // namespace pyptox::agent
