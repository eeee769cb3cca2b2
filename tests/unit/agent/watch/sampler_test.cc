#include "agent/watch/sampler.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/agent/watch/fake_proc.h"
#include "tests/unit/agent/watch/fixture.h"
#include "tests/unit/agent/watch/load_values.h"

namespace pyptox::agent {
namespace {

ToolAnswer Good(const std::string& text) {
  ToolAnswer answer;
  answer.exit_status = 0;
  answer.text = text;
  return answer;
}

// A host whose tool answers by its arguments.
class SamplerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    proc_.MakeBareHost();
    const std::string none;
    proc_.Add({.pid = 10}, &none);
  }

  v1::LoadSample Take(const v1::WatchConfig& config) {
    WatchSurroundings surroundings;
    surroundings.call_tool = [this](const std::vector<std::string>& argv,
                                    Duration timeout) -> absl::StatusOr<ToolAnswer> {
      std::string line;
      for (size_t i = 1; i < argv.size(); ++i) line += (i > 1 ? " " : "") + argv[i];
      calls_.push_back(argv[0] + " " + line);
      timeout_ = timeout;
      if (during_call_) during_call_();
      // The longest beginning decides: it is the last one in order.
      for (auto answer = answers_.rbegin(); answer != answers_.rend(); ++answer) {
        if (line.starts_with(answer->first)) return answer->second;
      }
      return absl::NotFoundError("No such file or directory");
    };
    surroundings.own_roots = [] { return std::vector<uint64_t>{10}; };
    surroundings.now = [this] {
      clock_ns_ += 250'000'000;
      return Now{MonoTime{clock_ns_}, WallTime{17}};
    };
    surroundings.proc = proc_.path();
    surroundings.observer = "agent:dev";
    auto sampler = Sampler::Make(config, surroundings);
    EXPECT_TRUE(sampler.ok()) << sampler.status();
    view_ = (*sampler)->config().process_view();
    return (*sampler)->Take();
  }

  static v1::WatchConfig OpenView(v1::WatchConfig config) {
    config.set_process_view(v1::PROCESS_VIEW_UNSPECIFIED);
    return config;
  }

  void AnswerGpu(const std::string& gpus, const std::string& apps) {
    answers_["-i 0 --query-gpu"] = Good(gpus);
    answers_["-i 0 --query-compute-apps"] = Good(apps);
  }

  FakeProc proc_;
  std::map<std::string, absl::StatusOr<ToolAnswer>> answers_;
  std::vector<std::string> calls_;
  std::function<void()> during_call_;
  Duration timeout_;
  int64_t clock_ns_ = 0;
  v1::ProcessView view_ = v1::PROCESS_VIEW_UNSPECIFIED;
};

TEST_F(SamplerTest, Gpu) {
  const std::string none;
  proc_.Add({.pid = 41002, .parent = 10}, &none);
  const std::string children = "41002 ";
  proc_.Add({.pid = 10}, &children);
  AnswerGpu(Fixture("nvidia-smi_query-gpu_rtx5080_wsl2_idle.csv"), Fixture("nvidia-smi_query-compute-apps_linux.csv"));
  const v1::LoadSample sample = Take(OpenView(GpuConfig()));
  EXPECT_EQ(
      sample.ShortDebugString(),
      "observer: \"agent:dev\" wall_ns: 17 took_ms: 250 gpu { utilization_percent: 3 sm_clock_mhz: 427 "
      "max_sm_clock_mhz: 3090 power_w: 22.17 memory_used_mib: 1412 memory_total_mib: 16303 driver: \"610.62\" "
      "processes_listed: true processes { pid: 41002 name: \"./build/pxr_cuda_worker\" memory_mib: 412 ours: true "
      "} processes { pid: 41077 name: \"/usr/bin/python3\" memory_mib: 1808 } }");
  EXPECT_EQ(view_, v1::PROCESS_VIEW_WHOLE);
  EXPECT_EQ(calls_, (std::vector<std::string>{
                        "/usr/bin/nvidia-smi -i 0 --query-compute-apps=pid,used_gpu_memory,process_name --format=csv",
                        "/usr/bin/nvidia-smi -i 0 --query-gpu=index,driver_version,utilization.gpu,clocks.sm,"
                        "clocks.max.sm,power.draw,memory.used,memory.total --format=csv"}));
  EXPECT_EQ(timeout_, Seconds(10));
}

TEST_F(SamplerTest, AProcessOfOursThatStartsOrEndsMeanwhileIsOurs) {
  const std::string none;
  const std::string children = "41002 ";
  AnswerGpu(Fixture("nvidia-smi_query-gpu_rtx5080_wsl2_idle.csv"), Fixture("nvidia-smi_query-compute-apps_linux.csv"));
  during_call_ = [&] {
    proc_.Add({.pid = 41002, .parent = 10}, &none);
    proc_.Add({.pid = 10}, &children);
  };
  EXPECT_TRUE(Take(GpuConfig()).gpu().processes(0).ours());
  during_call_ = [&] {
    proc_.Remove(41002);
    proc_.Add({.pid = 10}, &none);
  };
  EXPECT_TRUE(Take(GpuConfig()).gpu().processes(0).ours());
}

TEST_F(SamplerTest, AToolThatFailsMakesAFault) {
  const std::string idle = Fixture("nvidia-smi_query-gpu_rtx5080_wsl2_idle.csv");
  const std::string none = Fixture("nvidia-smi_query-compute-apps_empty.csv");
  const auto fault = [&] {
    const v1::LoadSample sample = Take(GpuConfig());
    EXPECT_EQ(sample.reading_case(), v1::LoadSample::READING_NOT_SET);
    return sample.fault();
  };
  EXPECT_EQ(fault(), "nvidia-smi can't be run: No such file or directory");
  ToolAnswer hung;
  hung.timed_out = true;
  hung.text = none;
  answers_["-i 0"] = hung;
  EXPECT_EQ(fault(), "nvidia-smi did not answer in time");
  ToolAnswer crashed;
  crashed.signal = 11;
  answers_["-i 0"] = crashed;
  EXPECT_EQ(fault(), "nvidia-smi crashed, signal 11");
  ToolAnswer failed = Good(Fixture("nvidia-smi_error_no_driver.txt"));
  failed.exit_status = 9;
  answers_["-i 0"] = failed;
  EXPECT_EQ(fault().substr(0, 50), "nvidia-smi ended with status 9: NVIDIA-SMI has fai");
  answers_["-i 0"] = Good(std::string(kMaxToolBytes + 1, 'x'));
  EXPECT_EQ(fault().substr(0, 40), "nvidia-smi wrote more than is read: xxxx");
  // The list is good, the numbers fail, with a good row before.
  answers_.clear();
  AnswerGpu(idle, none);
  ToolAnswer lost = Good(Fixture("nvidia-smi_query-gpu_one-good-then-lost.txt"));
  lost.exit_status = 15;
  answers_["-i 0 --query-gpu"] = lost;
  EXPECT_EQ(fault().substr(0, 50), "nvidia-smi ended with status 15: index, name, util");
  answers_["-i 0 --query-gpu"] = Good("index\n");
  EXPECT_EQ(fault(), "nvidia-smi answers with 0 rows about gpu 0");
  answers_["-i 0 --query-gpu"] = Good(idle);
  EXPECT_EQ(Take(GpuConfig()).fault(), "");
  proc_.Remove(10);
  EXPECT_EQ(fault(), proc_.path() + "/10: can't be read, but is ours");
}

TEST_F(SamplerTest, NpuChip) {
  answers_["info"] = Good(Fixture("npu-smi_info_910C_A3_drv26.1_dual-die_container-pid.txt"));
  const v1::LoadSample sample = Take(NpuConfig());
  EXPECT_EQ(
      sample.npu().ShortDebugString(),
      "npu_id: 7 chip_id: 1 phy_id: 15 health: \"OK\" aicore_percent: 17 hbm_used_mib: 31904 hbm_total_mib: 65536 "
      "driver: \"26.1.1\" processes_listed: true processes { pid: 733120 container_pid: 4120 name: \"python3.1\" "
      "memory_mib: 28911 } processes { pid: 733121 container_pid: 4121 name: \"python3.1\" memory_mib: 212 }");
  EXPECT_EQ(calls_, std::vector<std::string>{"/usr/local/bin/npu-smi info"});
  v1::WatchConfig other = NpuConfig();
  other.set_npu_id(9);
  EXPECT_EQ(Take(other).fault(), "npu-smi shows no npu 9 chip 1");
  ToolAnswer error = Good(Fixture("npu-smi_error_dcmi_not_init.txt"));
  error.exit_status = 1;
  answers_["info"] = error;
  EXPECT_EQ(Take(NpuConfig()).fault(),
            "npu-smi ended with status 1: DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)");
}

TEST_F(SamplerTest, WhatTheTableLacksComesFromTheLists) {
  v1::WatchConfig config = NpuConfig();
  config.set_npu_id(0);
  config.set_chip_id(0);
  answers_["info"] = Good(Fixture("npu-smi_info_910B1_drv26.0rc1_no-HBM-column.txt"));
  answers_["info -t proc-mem -i 0"] = Good(Fixture("npu-smi_info_-t_proc-mem_idle.txt"));
  answers_["info -t usages -i 0"] = Good(Fixture("npu-smi_info_-t_usages_910B3.txt"));
  const v1::LoadSample sample = Take(config);
  EXPECT_EQ(
      sample.npu().ShortDebugString(),
      "health: \"OK\" aicore_percent: 100 hbm_used_mib: 3276 hbm_total_mib: 65536 hbm_step_mib: 656 power_w: 98.4 "
      "driver: \"26.0.rc1\" processes_listed: true");
}

TEST(MarkOurs, ByTheIdThatIsComparable) {
  const auto ours = [](const v1::WatchConfig& config, std::optional<uint64_t> pid, std::optional<uint64_t> inside) {
    google::protobuf::RepeatedPtrField<v1::LoadProcess> processes;
    v1::LoadProcess* process = processes.Add();
    if (pid.has_value()) process->set_pid(*pid);
    if (inside.has_value()) process->set_container_pid(*inside);
    MarkOurs(config, {5}, &processes);
    return processes[0].ours();
  };
  EXPECT_TRUE(ours(GpuConfig(), 5, {}));
  EXPECT_FALSE(ours(GpuConfig(), 6, {}));
  EXPECT_FALSE(ours(GpuConfig(), {}, {}));
  EXPECT_TRUE(ours(GpuConfig(v1::PROCESS_VIEW_HIDDEN), 5, {}));
  EXPECT_TRUE(ours(NpuConfig(), 5, {}));
  // On the host a container's own numbering says nothing.
  EXPECT_FALSE(ours(NpuConfig(), 6, 5));
  // In a container the host's numbering says nothing.
  EXPECT_FALSE(ours(NpuConfig(v1::PROCESS_VIEW_HIDDEN), 5, {}));
  EXPECT_FALSE(ours(NpuConfig(v1::PROCESS_VIEW_HIDDEN), 5, 6));
  EXPECT_TRUE(ours(NpuConfig(v1::PROCESS_VIEW_HIDDEN), 6, 5));
}

TEST(MarkOurs, AFloodKeepsTheForeignOnes) {
  google::protobuf::RepeatedPtrField<v1::LoadProcess> processes;
  std::set<uint64_t> own;
  for (uint64_t pid = 1; pid <= 200; ++pid) {
    *processes.Add() = Process(pid, false);
    if (pid != 150) own.insert(pid);
  }
  MarkOurs(GpuConfig(), own, &processes);
  ASSERT_EQ(processes.size(), 64);
  EXPECT_EQ(processes[0].pid(), 150u);
  EXPECT_FALSE(processes[0].ours());
  EXPECT_EQ(processes[1].pid(), 1u);
}

TEST(Sampler, ABadConfigurationIsRefused) {
  v1::WatchConfig config = CpuConfig();
  config.set_cpus("7-1");
  EXPECT_EQ(Sampler::Make(config, {}).status().message(), "'7-1' is no list of CPUs like 0-3,8");
  EXPECT_FALSE(Sampler::Make(v1::WatchConfig(), {}).ok());
}

}  // namespace
}  // namespace pyptox::agent
