#include "agent/watch/parse/proc_load.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/agent/watch/fixture.h"

namespace pyptox::agent {
namespace {

TEST(ProcLoad, LoadAverage) {
  const auto load = ParseLoadAverage(Fixture("proc_loadavg_busy.txt"));
  ASSERT_TRUE(load.ok()) << load.status();
  EXPECT_EQ(load->load1, 11.82);
  EXPECT_EQ(load->runnable, 14u);
  for (const char* text : {"", "11.82 9.40 6.13 14/512 90210", "11.82 9.40 6.13 14 90210\n",
                           "x 9.40 6.13 14/512 90210\n", "11.82 9.40 6.13 -1/512 90210\n"}) {
    EXPECT_FALSE(ParseLoadAverage(text).ok()) << text;
  }
}

TEST(ProcLoad, Pressure) {
  const struct {
    const char* file;
    double avg10;
    uint64_t total;
  } kCases[] = {{"proc_pressure_cpu.txt", 0.17, 54649503},
                {"proc_pressure_cpu_pre5.13.txt", 0.17, 54649503},
                {"proc_pressure_io.txt", 0.54, 89345268},
                {"proc_pressure_memory_stalled.txt", 41.22, 71655012}};
  for (const auto& c : kCases) {
    const auto pressure = ParsePressure(Fixture(c.file));
    ASSERT_TRUE(pressure.ok()) << c.file;
    EXPECT_EQ(pressure->some_avg10, c.avg10) << c.file;
    EXPECT_EQ(pressure->some_total_us, c.total) << c.file;
  }
  EXPECT_FALSE(ParsePressure(Fixture("proc_pressure_disabled.err.txt")).ok());
  EXPECT_FALSE(ParsePressure("").ok());
  EXPECT_FALSE(ParsePressure("full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n").ok());
}

TEST(ProcLoad, CpuTicksOfAllAndOfSome) {
  const std::string text =
      "cpu  999 999 999 999 999 999 999 999 0 0\n"
      "cpu0 100 20 30 5000 7 4 5 11 60 0\n"
      "cpu1 200 0 0 5000 7 0 0 1 0 0\n"
      "cpu3 1 2 3 4 5 6 7 8 9 10\n"
      "intr 12345 0\nctxt 5\nprocs_running 3\n";
  const auto all = ParseCpuTicks(text, {});
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->used, 159u + 200u + 19u);
  EXPECT_EQ(all->stolen, 20u);
  EXPECT_EQ(all->cpus, 3u);
  EXPECT_EQ(all->online, 3u);
  const auto some = ParseCpuTicks(text, {0, 3});
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->used, 159u + 19u);
  EXPECT_EQ(some->stolen, 19u);
  EXPECT_EQ(some->cpus, 2u);
  EXPECT_EQ(some->online, 3u);
  EXPECT_EQ(ParseCpuTicks(text, {2}).status().message(), "/proc/stat: has 0 of the 1 CPUs that are watched");
  EXPECT_FALSE(ParseCpuTicks("", {}).ok());
  EXPECT_FALSE(ParseCpuTicks("cpu0 1 2 3\n", {}).ok());
}

TEST(ProcLoad, ProcessStat) {
  const auto stat = ParseProcessStat(
      "41 (a) b (c)) R 7 41 41 0 -1 4194304 93 0 0 0 10 20 300 4000 20 0 1 0 5555 2920448 201 18446744073709551615\n");
  ASSERT_TRUE(stat.ok()) << stat.status();
  EXPECT_EQ(stat->pid, 41u);
  EXPECT_EQ(stat->parent, 7u);
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->own_ticks, 30u);
  EXPECT_EQ(stat->child_ticks, 4300u);
  EXPECT_EQ(stat->start, 5555u);
  EXPECT_FALSE(ParseProcessStat("").ok());
  EXPECT_FALSE(ParseProcessStat("41 (a) R 7\n").ok());
}

TEST(ProcLoad, CpuLists) {
  EXPECT_EQ(*ParseCpuList("0-2,8"), (std::set<uint32_t>{0, 1, 2, 8}));
  EXPECT_EQ(*ParseCpuList(""), std::set<uint32_t>());
  for (const char* text : {"a", "3-1", "0-9999", "1,,2", "1-", "-1", "4294967296"}) {
    EXPECT_FALSE(ParseCpuList(text).ok()) << text;
  }
}

}  // namespace
}  // namespace pyptox::agent
