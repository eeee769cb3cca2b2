// Every output cut at every byte: never a crash, and never clean where the whole is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agent/watch/judge/sample_judge.h"
#include "agent/watch/parse/npu_smi_list.h"
#include "agent/watch/parse/npu_smi_table.h"
#include "agent/watch/parse/nvidia_smi.h"
#include "agent/watch/parse/proc_load.h"
#include "agent/watch/parse/tool_answer.h"
#include "tests/unit/agent/watch/fixture.h"
#include "tests/unit/agent/watch/load_values.h"

namespace pyptox::agent {
namespace {

std::vector<std::string> AllFixtures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(FixturesFolder())) {
    if (entry.path().filename() != "INDEX.md") names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The verdict on GPU 0 when the tool, well or not, wrote these two texts and ended with 0.
v1::LoadState GpuState(const std::string& gpus, const std::string& apps, v1::ProcessView view) {
  const v1::WatchConfig config = GpuConfig(view);
  v1::LoadSample sample;
  const auto read = ParseNvidiaGpus(gpus, GpuQuery());
  const auto processes = ParseNvidiaProcesses(apps, ComputeAppsQuery());
  if (!read.ok() || !processes.ok() || read->empty()) {
    sample.set_fault("no answer");
  } else {
    *sample.mutable_gpu() = (*read)[0];
    sample.mutable_gpu()->set_processes_listed(true);
    for (const v1::LoadProcess& process : *processes) *sample.mutable_gpu()->add_processes() = process;
  }
  return JudgeSample(config, LevelOf(config, IdleGpu()), sample, LoadMoment::kIdle).state();
}

// The same for one chip of a table, whose idle level is `idle_mib`.
v1::LoadState ChipState(const absl::StatusOr<std::vector<v1::NpuLoad>>& table, uint32_t npu, uint32_t chip,
                        uint64_t idle_mib) {
  v1::WatchConfig config = NpuConfig();
  config.set_npu_id(npu);
  config.set_chip_id(chip);
  IdleLevel level;
  level.learned = true;
  level.memory_used_mib = idle_mib;
  v1::LoadSample sample;
  sample.set_fault("no such chip");
  for (const v1::NpuLoad& load : table.ok() ? *table : std::vector<v1::NpuLoad>()) {
    if (load.npu_id() != npu || load.chip_id() != chip) continue;
    *sample.mutable_npu() = load;
    sample.clear_fault();
    level.driver = load.driver();
  }
  return JudgeSample(config, level, sample, LoadMoment::kIdle).state();
}

void ExpectNoCutIsCleaner(const std::string& name, const std::function<v1::LoadState(const std::string&)>& judge) {
  const std::string whole = Fixture(name);
  const v1::LoadState state = judge(whole);
  for (size_t size = 0; size < whole.size(); ++size) {
    const v1::LoadState cut = judge(whole.substr(0, size));
    EXPECT_TRUE(cut != v1::LOAD_STATE_CLEAN || state == v1::LOAD_STATE_CLEAN) << name << " cut at " << size;
  }
}

TEST(CutFixture, EveryParserSurvivesEveryCutOfEveryFile) {
  ASSERT_EQ(AllFixtures().size(), 45u);
  for (const std::string& name : AllFixtures()) {
    const std::string whole = Fixture(name);
    for (size_t size = 0; size <= whole.size(); ++size) {
      const std::string text = whole.substr(0, size);
      for (const bool header : {true, false}) {
        NvidiaQuery gpus = GpuQuery();
        NvidiaQuery apps = ComputeAppsQuery();
        gpus.header = apps.header = header;
        (void)ParseNvidiaGpus(text, gpus);
        (void)ParseNvidiaProcesses(text, apps);
      }
      (void)ParseNpuTable(text);
      (void)ParseNpuList(text);
      (void)ParseNpuMap(text);
      (void)ParseNpuCounts(text);
      (void)ParseNpuSocName(text);
      (void)ParseLoadAverage(text);
      (void)ParsePressure(text);
      (void)ParseCpuTicks(text, {});
      (void)ParseProcessStat(text);
      EXPECT_EQ(RedactNpuText(text).find("EXAMPLE000001"), std::string::npos);
    }
  }
}

TEST(CutFixture, EveryFileAsTheAnswerAboutTheGpu) {
  const std::string none = Fixture("nvidia-smi_query-compute-apps_empty.csv");
  for (const std::string& name : AllFixtures()) {
    // Cut behind its good row this one is a good answer; what tells is the exit status, which the next test is about.
    if (name == "nvidia-smi_query-gpu_one-good-then-lost.txt") continue;
    for (const v1::ProcessView view : {v1::PROCESS_VIEW_WHOLE, v1::PROCESS_VIEW_HIDDEN}) {
      ExpectNoCutIsCleaner(name, [&](const std::string& text) { return GpuState(text, none, view); });
    }
    const bool idle = name == "nvidia-smi_query-gpu_rtx5080_wsl2_idle.csv";
    EXPECT_EQ(GpuState(Fixture(name), none, v1::PROCESS_VIEW_WHOLE) == v1::LOAD_STATE_CLEAN, idle) << name;
  }
}

TEST(CutFixture, AGoodRowOfAToolThatFailedIsNotUsed) {
  ToolAnswer answer;
  answer.exit_status = 15;
  const std::string whole = Fixture("nvidia-smi_query-gpu_one-good-then-lost.txt");
  for (size_t size = 0; size <= whole.size(); ++size) {
    answer.text = whole.substr(0, size);
    EXPECT_FALSE(CheckToolAnswer(answer, "nvidia-smi").ok()) << size;
  }
  EXPECT_EQ(GpuState(whole, Fixture("nvidia-smi_query-compute-apps_empty.csv"), v1::PROCESS_VIEW_WHOLE),
            v1::LOAD_STATE_UNOBSERVABLE);
}

// A list that is cut at the end of a line looks whole. What its processes hold then tells of them.
TEST(CutFixture, EveryFileAsTheListOfProcesses) {
  std::string gpus = Fixture("nvidia-smi_query-gpu_rtx5080_wsl2_idle.csv");
  gpus.replace(gpus.find("1412 MiB"), 8, "3632 MiB");  // 412 and 1808 MiB more
  for (const std::string& name : AllFixtures()) {
    ExpectNoCutIsCleaner(name, [&](const std::string& text) { return GpuState(gpus, text, v1::PROCESS_VIEW_WHOLE); });
  }
  const std::string idle = Fixture("nvidia-smi_query-gpu_rtx5080_wsl2_idle.csv");
  for (const std::string& name : AllFixtures()) {
    EXPECT_EQ(GpuState(idle, Fixture(name), v1::PROCESS_VIEW_WHOLE) == v1::LOAD_STATE_CLEAN,
              name == "nvidia-smi_query-compute-apps_empty.csv")
        << name;
  }
}

TEST(CutFixture, EveryFileAsTheTableOfEveryChip) {
  // An idle level so high that only processes and AICore can be foreign: the hardest case.
  constexpr uint64_t kAll = 65536;
  for (const std::string& name : AllFixtures()) {
    const std::string text = Fixture(name);
    const auto whole = ParseNpuTable(text);
    for (size_t size = 0; size < text.size(); ++size) {
      const auto cut = ParseNpuTable(text.substr(0, size));
      // A table that is refused is unobservable for every chip.
      if (!cut.ok()) continue;
      for (uint32_t npu = 0; npu < 8; ++npu) {
        for (const uint32_t chip : {0u, 1u}) {
          EXPECT_TRUE(ChipState(cut, npu, chip, kAll) != v1::LOAD_STATE_CLEAN ||
                      ChipState(whole, npu, chip, kAll) == v1::LOAD_STATE_CLEAN)
              << name << " cut at " << size << ", npu " << npu << " chip " << chip;
        }
      }
    }
  }
}

TEST(CutFixture, WholeTablesSayWhatTheirIndexSays) {
  const v1::LoadState clean = v1::LOAD_STATE_CLEAN;
  const v1::LoadState foreign = v1::LOAD_STATE_FOREIGN;
  const v1::LoadState unobservable = v1::LOAD_STATE_UNOBSERVABLE;
  const auto mixed = ParseNpuTable(Fixture("npu-smi_info_910B3_drv25.2_idle-busy-alarm.txt"));
  EXPECT_EQ(ChipState(mixed, 0, 0, 3400), clean);
  EXPECT_EQ(ChipState(mixed, 1, 0, 3400), clean);
  EXPECT_EQ(ChipState(mixed, 2, 0, 3400), foreign);
  EXPECT_EQ(ChipState(mixed, 3, 0, 3400), clean);
  EXPECT_EQ(ChipState(mixed, 4, 0, 3400), unobservable);
  const auto idle = ParseNpuTable(Fixture("npu-smi_info_910B3_drv25.2_8cards_all-idle.txt"));
  for (uint32_t npu = 0; npu < 8; ++npu) EXPECT_EQ(ChipState(idle, npu, 0, 3400), clean);
  const auto dual = ParseNpuTable(Fixture("npu-smi_info_910C_A3_drv26.1_dual-die_container-pid.txt"));
  EXPECT_EQ(ChipState(dual, 0, 0, 3140), foreign);
  EXPECT_EQ(ChipState(dual, 0, 1, 2881), clean);
  EXPECT_EQ(ChipState(dual, 7, 0, 3147), clean);
  EXPECT_EQ(ChipState(dual, 7, 1, 2888), foreign);
  const auto bare = ParseNpuTable(Fixture("npu-smi_info_910B1_drv26.0rc1_no-HBM-column.txt"));
  EXPECT_EQ(ChipState(bare, 0, 0, 3400), foreign);
  EXPECT_EQ(ChipState(bare, 1, 0, 3400), unobservable);
}

}  // namespace
}  // namespace pyptox::agent
