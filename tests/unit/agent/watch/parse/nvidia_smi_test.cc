#include "agent/watch/parse/nvidia_smi.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/watch/parse/tool_answer.h"
#include "agent/watch/parse/tool_text.h"
#include "tests/unit/agent/watch/fixture.h"

namespace pyptox::agent {
namespace {

std::vector<v1::GpuLoad> Gpus(const std::string& text, const NvidiaQuery& query = GpuQuery()) {
  auto gpus = ParseNvidiaGpus(text, query);
  EXPECT_TRUE(gpus.ok()) << gpus.status();
  return gpus.ok() ? *gpus : std::vector<v1::GpuLoad>();
}

std::vector<v1::LoadProcess> Processes(const std::string& text, const NvidiaQuery& query = ComputeAppsQuery()) {
  auto processes = ParseNvidiaProcesses(text, query);
  EXPECT_TRUE(processes.ok()) << processes.status();
  return processes.ok() ? *processes : std::vector<v1::LoadProcess>();
}

TEST(NvidiaSmi, IdleCardWithHeaderAndUnits) {
  const auto gpus = Gpus(Fixture("nvidia-smi_query-gpu_rtx5080_wsl2_idle.csv"));
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].ShortDebugString(),
            "utilization_percent: 3 sm_clock_mhz: 427 max_sm_clock_mhz: 3090 power_w: 22.17 "
            "memory_used_mib: 1412 memory_total_mib: 16303 driver: \"610.62\"");
}

TEST(NvidiaSmi, LoadedCardWithoutHeaderAndUnits) {
  const NvidiaQuery query = {
      {"index", "name", "pstate", "clocks.sm", "clocks.max.sm", "clocks.mem", "clocks.max.memory", "power.draw",
       "power.limit", "temperature.gpu", "utilization.gpu", "memory.used", "memory.total"},
      false};
  const auto gpus = Gpus(Fixture("nvidia-smi_query-gpu_rtx5080_wsl2_load_nounits.csv"), query);
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].ShortDebugString(),
            "utilization_percent: 99 sm_clock_mhz: 2865 max_sm_clock_mhz: 3090 power_w: 298.44 "
            "memory_used_mib: 5120 memory_total_mib: 16303");
}

TEST(NvidiaSmi, WhatIsNotANumberIsUnknownAndNeverZero) {
  const auto gpus = Gpus(Fixture("nvidia-smi_query-gpu_mixed-NA.csv"));
  ASSERT_EQ(gpus.size(), 4u);
  EXPECT_EQ(gpus[0].ShortDebugString(),
            "memory_used_mib: 13 unknown: \"power.draw: [Not Supported]\" unknown: \"utilization.gpu: [Not "
            "Supported]\" unknown: \"clocks.sm: [Not Supported]\"");
  EXPECT_EQ(gpus[1].ShortDebugString(),
            "index: 1 utilization_percent: 12 sm_clock_mhz: 427 memory_used_mib: 1400 unknown: \"power.draw: [N/A]\"");
  EXPECT_EQ(gpus[2].ShortDebugString(),
            "index: 2 unknown: \"power.draw: [Unknown Error]\" unknown: \"utilization.gpu: [GPU requires reset]\" "
            "unknown: \"memory.used: [GPU requires reset]\" unknown: \"clocks.sm: [Unknown Error]\"");
  // Here 0 % was really read.
  EXPECT_EQ(gpus[3].ShortDebugString(),
            "index: 3 utilization_percent: 0 sm_clock_mhz: 210 memory_used_mib: 2 unknown: \"power.draw: "
            "[Insufficient Permissions]\"");
}

TEST(NvidiaSmi, AFaultLineAfterAGoodRowSpoilsTheAnswer) {
  const auto gpus = ParseNvidiaGpus(Fixture("nvidia-smi_query-gpu_one-good-then-lost.txt"), GpuQuery());
  EXPECT_EQ(gpus.status().message(),
            "nvidia-smi: Unable to determine the device handle for GPU1: 0000:24:00.0: GPU is lost.  Reboot the system "
            "to recover this GPU");
}

TEST(NvidiaSmi, ErrorsAndTablesAreNoAnswer) {
  for (const char* name :
       {"nvidia-smi_crash_wsl.txt", "nvidia-smi_error_gpu_lost.txt", "nvidia-smi_error_no_devices.txt",
        "nvidia-smi_error_no_driver.txt", "nvidia-smi_error_version_mismatch.txt",
        "nvidia-smi_error_wsl_access_blocked.txt", "nvidia-smi_table_wsl2_545_cuda-ERR.txt",
        "nvidia-smi_table_wsl2_610_new-header.txt", "npu-smi_info_910B3_drv26.1.txt"}) {
    const std::string text = Fixture(name);
    const std::string expected = "nvidia-smi: " + FirstLineOf(text);
    for (const bool header : {true, false}) {
      NvidiaQuery gpu_query = GpuQuery();
      NvidiaQuery apps_query = ComputeAppsQuery();
      gpu_query.header = apps_query.header = header;
      EXPECT_EQ(ParseNvidiaGpus(text, gpu_query).status().message(), expected) << name;
      EXPECT_EQ(ParseNvidiaProcesses(text, apps_query).status().message(), expected) << name;
    }
  }
}

TEST(NvidiaSmi, ProcessesOnLinux) {
  const auto processes = Processes(Fixture("nvidia-smi_query-compute-apps_linux.csv"));
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0].ShortDebugString(), "pid: 41002 name: \"./build/pxr_cuda_worker\" memory_mib: 412");
  EXPECT_EQ(processes[1].ShortDebugString(), "pid: 41077 name: \"/usr/bin/python3\" memory_mib: 1808");
}

TEST(NvidiaSmi, ProcessRowsMayBeShortAndHidden) {
  const auto processes = Processes(Fixture("nvidia-smi_query-compute-apps_wsl2_NA.csv"));
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0].ShortDebugString(), "pid: 79");
  EXPECT_EQ(processes[1].ShortDebugString(), "pid: 524");
  EXPECT_EQ(processes[2].ShortDebugString(), "pid: 2936");
  const auto hidden = Processes("pid, used_gpu_memory [MiB], process_name\n[N/A], 4 MiB, [Not Found]\n");
  ASSERT_EQ(hidden.size(), 1u);
  EXPECT_EQ(hidden[0].ShortDebugString(), "memory_mib: 4");
}

TEST(NvidiaSmi, AnEmptyListNeedsItsHeaderWhereOneWasAsked) {
  EXPECT_EQ(Processes(Fixture("nvidia-smi_query-compute-apps_empty.csv")).size(), 0u);
  NvidiaQuery bare = ComputeAppsQuery();
  bare.header = false;
  EXPECT_EQ(Processes(Fixture("nvidia-smi_query-compute-apps_empty_noheader.csv"), bare).size(), 0u);
  EXPECT_EQ(ParseNvidiaProcesses(Fixture("nvidia-smi_query-compute-apps_empty_noheader.csv"), ComputeAppsQuery())
                .status()
                .message(),
            "nvidia-smi wrote nothing, not even the header");
}

TEST(NvidiaSmi, NamesWithCommasAndControlCharacters) {
  const auto first = Processes("pid, process_name, used_gpu_memory [MiB]\n7, a, b\x1b[2J,c, 12 MiB\n");
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].ShortDebugString(), "pid: 7 name: \"a, b[2J,c\" memory_mib: 12");
  const auto last = Processes("pid, used_gpu_memory [MiB], process_name\n7, 12 MiB, a, 99 MiB\n");
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].ShortDebugString(), "pid: 7 name: \"a, 99 MiB\" memory_mib: 12");
}

TEST(NvidiaSmi, NamesThatAreCommasOnly) {
  for (const char* name : {",", " , , ", "a,,", ",,b"}) {
    const auto processes =
        Processes(std::string("pid, process_name, used_gpu_memory [MiB]\n7, ") + name + ", 12 MiB\n");
    ASSERT_EQ(processes.size(), 1u);
    EXPECT_EQ(processes[0].memory_mib(), 12u) << name;
    EXPECT_LE(processes[0].name().size(), 5u) << name;
  }
}

TEST(NvidiaSmi, AnotherUnitIsUnknown) {
  const auto header = Gpus("index, memory.used [GiB], power.draw [mW]\n0, 12 GiB, 21000 mW\n");
  ASSERT_EQ(header.size(), 1u);
  EXPECT_EQ(header[0].ShortDebugString(), "unknown: \"memory.used: 12 GiB\" unknown: \"power.draw: 21000 mW\"");
  for (const char* cell : {"-1 %", "101 %", "nan %", "1e1 %", "0x3 %", "3 MHz", "3 % x", "", ".5 %", "1.2.3 %"}) {
    const auto gpus = Gpus(std::string("index, utilization.gpu [%]\n0, ") + cell + "\n");
    ASSERT_EQ(gpus.size(), 1u);
    EXPECT_FALSE(gpus[0].has_utilization_percent()) << cell;
  }
}

TEST(NvidiaSmi, ACutNumberIsNotTaken) {
  EXPECT_EQ(ParseNvidiaProcesses("pid, used_gpu_memory [MiB], process_name\n41", ComputeAppsQuery()).status().message(),
            "nvidia-smi line 2: has no end, the output is cut");
}

TEST(NvidiaSmi, QuestionsAsked) {
  EXPECT_EQ(NvidiaArguments("query-gpu", GpuQuery()),
            (std::vector<std::string>{"--query-gpu=index,driver_version,utilization.gpu,clocks.sm,clocks.max.sm,"
                                      "power.draw,memory.used,memory.total",
                                      "--format=csv"}));
  EXPECT_EQ(NvidiaArguments("query-compute-apps", ComputeAppsQuery()),
            (std::vector<std::string>{"--query-compute-apps=pid,used_gpu_memory,process_name", "--format=csv"}));
}

TEST(ToolAnswer, GoodTextOfAFailedRunIsNotUsed) {
  ToolAnswer answer;
  answer.exit_status = 0;
  answer.text = "\n  No devices were found\nmore\n";
  EXPECT_TRUE(CheckToolAnswer(answer, "nvidia-smi").ok());
  answer.truncated = true;
  EXPECT_EQ(CheckToolAnswer(answer, "nvidia-smi").message(),
            "nvidia-smi wrote more than is read: No devices were found");
  answer.exit_status = 6;
  EXPECT_EQ(CheckToolAnswer(answer, "nvidia-smi").message(), "nvidia-smi ended with status 6: No devices were found");
  answer.exit_status = -1;
  answer.signal = 11;
  answer.text = Fixture("nvidia-smi_crash_wsl.txt");
  EXPECT_EQ(CheckToolAnswer(answer, "nvidia-smi").message(),
            "nvidia-smi crashed, signal 11: Segmentation fault (core dumped)");
  answer.timed_out = true;
  EXPECT_EQ(CheckToolAnswer(answer, "nvidia-smi").message(), "nvidia-smi did not answer in time");
  EXPECT_FALSE(CheckToolAnswer(ToolAnswer(), "npu-smi").ok());
}

}  // namespace
}  // namespace pyptox::agent
