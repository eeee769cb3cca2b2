#include "agent/watch/parse/npu_smi_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/agent/watch/fixture.h"

namespace pyptox::agent {
namespace {

std::vector<std::string> Chips(const std::string& text) {
  const auto chips = ParseNpuTable(text);
  EXPECT_TRUE(chips.ok()) << chips.status();
  std::vector<std::string> lines;
  for (const v1::NpuLoad& chip : chips.ok() ? *chips : std::vector<v1::NpuLoad>()) {
    lines.push_back(chip.ShortDebugString());
  }
  return lines;
}

TEST(NpuSmiTable, BusyIdleAndAlarmedCardsOf910B3) {
  const std::vector<std::string> expected = {
      "health: \"OK\" aicore_percent: 0 hbm_used_mib: 3398 hbm_total_mib: 65536 power_w: 91.4 driver: \"25.2.0\" "
      "processes_listed: true",
      "npu_id: 1 health: \"OK\" aicore_percent: 0 hbm_used_mib: 3402 hbm_total_mib: 65536 power_w: 95 driver: "
      "\"25.2.0\" processes_listed: true",
      "npu_id: 2 health: \"OK\" aicore_percent: 63 hbm_used_mib: 41877 hbm_total_mib: 65536 power_w: 231.7 driver: "
      "\"25.2.0\" processes_listed: true processes { pid: 410022 memory_mib: 38122 } processes { pid: 410307 name: "
      "\"pxr_worker\" memory_mib: 377 }",
      "npu_id: 3 health: \"Alarm\" aicore_percent: 0 hbm_used_mib: 3401 hbm_total_mib: 65536 power_w: 90.2 driver: "
      "\"25.2.0\" processes_listed: true"};
  EXPECT_EQ(Chips(Fixture("npu-smi_info_910B3_drv25.2_idle-busy-alarm.txt")), expected);
}

TEST(NpuSmiTable, EightIdleCardsHoldThreeGigabytesEach) {
  std::vector<std::string> expected;
  constexpr const char* kPower[] = {"90", "91.3", "92.6", "93.9", "95.2", "96.5", "97.8", "99.1"};
  for (int i = 0; i < 8; ++i) {
    expected.push_back(
        fmt::format("{}health: \"OK\" aicore_percent: 0 hbm_used_mib: {} hbm_total_mib: 65536 power_w: {} driver: "
                    "\"25.2.0\" processes_listed: true",
                    i == 0 ? "" : fmt::format("npu_id: {} ", i), 3395 + i, kPower[i]));
  }
  EXPECT_EQ(Chips(Fixture("npu-smi_info_910B3_drv25.2_8cards_all-idle.txt")), expected);
}

TEST(NpuSmiTable, WideLayoutOf26WithContainerColumn) {
  const std::vector<std::string> expected = {
      "health: \"OK\" aicore_percent: 0 hbm_used_mib: 8676 hbm_total_mib: 65536 power_w: 100.2 driver: \"26.1.0\" "
      "processes_listed: true processes { pid: 485946 name: \"pytest\" memory_mib: 5175 }",
      "npu_id: 1 health: \"OK\" aicore_percent: 0 hbm_used_mib: 3403 hbm_total_mib: 65536 power_w: 94.6 driver: "
      "\"26.1.0\" processes_listed: true"};
  EXPECT_EQ(Chips(Fixture("npu-smi_info_910B3_drv26.1.txt")), expected);
}

TEST(NpuSmiTable, WithoutHbmAndProcessTableBothAreUnknown) {
  const std::vector<std::string> expected = {
      "health: \"OK\" aicore_percent: 100 power_w: 98.4 driver: \"26.0.rc1\"",
      "npu_id: 1 health: \"OK\" aicore_percent: 0 power_w: 101.9 driver: \"26.0.rc1\""};
  EXPECT_EQ(Chips(Fixture("npu-smi_info_910B1_drv26.0rc1_no-HBM-column.txt")), expected);
}

// Both A3 layouts have the same sixteen dies; the last one is busy.
void ExpectDualDies(const std::vector<std::string>& chips, const std::string& driver, const std::string& processes,
                    const std::string& first_processes) {
  ASSERT_EQ(chips.size(), 16u);
  for (int phy = 0; phy < 15; ++phy) {
    const int npu = phy / 2;
    std::string expected = npu == 0 ? "" : fmt::format("npu_id: {} ", npu);
    if (phy % 2 == 1) expected += "chip_id: 1 ";
    expected += fmt::format("phy_id: {} health: \"OK\" aicore_percent: 0 hbm_used_mib: {} hbm_total_mib: 65536 ", phy,
                            (phy % 2 == 0 ? 3140 : 2881) + npu);
    if (phy % 2 == 0) expected += fmt::format("power_w: {}.2 ", 163 + npu);
    expected += fmt::format("driver: \"{}\" processes_listed: true", driver);
    if (phy == 0) expected += first_processes;
    EXPECT_EQ(chips[phy], expected);
  }
  EXPECT_EQ(chips[15],
            fmt::format("npu_id: 7 chip_id: 1 phy_id: 15 health: \"OK\" aicore_percent: 17 hbm_used_mib: 31904 "
                        "hbm_total_mib: 65536 driver: \"{}\" processes_listed: true{}",
                        driver, processes));
}

TEST(NpuSmiTable, DualDieOf25) {
  ExpectDualDies(Chips(Fixture("npu-smi_info_910C_A3_drv25.3_dual-die.txt")), "25.3.rc1",
                 " processes { pid: 733120 name: \"python3.11\" memory_mib: 28911 } processes { pid: 733121 name: "
                 "\"python3.11\" memory_mib: 212 }",
                 "");
}

TEST(NpuSmiTable, DualDieOf26WithContainerPids) {
  ExpectDualDies(
      Chips(Fixture("npu-smi_info_910C_A3_drv26.1_dual-die_container-pid.txt")), "26.1.1",
      " processes { pid: 733120 container_pid: 4120 name: \"python3.1\" memory_mib: 28911 } processes { pid: "
      "733121 container_pid: 4121 name: \"python3.1\" memory_mib: 212 }",
      " processes { pid: 632268 name: \"python3.1\" memory_mib: 197 }");
}

TEST(NpuSmiTable, ErrorsAreNoTable) {
  const struct {
    const char* file;
    const char* message;
  } kCases[] = {
      {"npu-smi_error_command_not_found.txt", "npu-smi: bash: npu-smi: command not found"},
      {"npu-smi_error_dcmi_busy.txt",
       "npu-smi: dcmi model initialized failed, because the device is used. ret is -8020"},
      {"npu-smi_error_dcmi_not_init.txt", "npu-smi: DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)"},
      {"npu-smi_info_-t_bad-type.txt", "npu-smi: Error parameter of -t"},
      {"nvidia-smi_query-compute-apps_empty_noheader.csv", "npu-smi: the table has no chip"},
      {"npu-smi_info_-t_usages_910B3.txt", "npu-smi: NPU ID                         : 0"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ParseNpuTable(Fixture(c.file)).status().message(), c.message) << c.file;
}

// Cut at any byte, the busy chip's processes are whole, not listed, or the table is refused: never fewer of them.
TEST(NpuSmiTable, ACutTableNeverLosesAProcess) {
  const std::string text = Fixture("npu-smi_info_910C_A3_drv25.3_dual-die.txt");
  int refused = 0;
  int unlisted = 0;
  for (size_t size = 0; size < text.size(); ++size) {
    const auto chips = ParseNpuTable(text.substr(0, size));
    if (!chips.ok()) {
      ++refused;
      continue;
    }
    for (const v1::NpuLoad& chip : *chips) {
      const int processes = chip.npu_id() == 7 && chip.chip_id() == 1 ? 2 : 0;
      unlisted += chip.processes_listed() ? 0 : 1;
      if (!chip.processes_listed()) continue;
      EXPECT_EQ(chip.processes_size(), processes) << size;
    }
  }
  EXPECT_GT(refused, 7000);
  EXPECT_GT(unlisted, 100);
}

TEST(NpuSmiTable, ProcessOfAnUnknownChipAndChipTwiceAreRefused) {
  std::string text = Fixture("npu-smi_info_910B3_drv26.1.txt");
  text.replace(text.find("| 0       0                 | 485946"), 20, "| 0       3          ");
  EXPECT_EQ(ParseNpuTable(text).status().code(), absl::StatusCode::kInvalidArgument);
  text = Fixture("npu-smi_info_910B3_drv26.1.txt");
  text.replace(text.find("| 1     910B3"), 13, "| 0     910B3");
  EXPECT_EQ(ParseNpuTable(text).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(NpuSmiTable, ANameWithABarKeepsItsMemory) {
  std::string text = Fixture("npu-smi_info_910B3_drv26.1.txt");
  text.replace(text.find("| pytest             |"), 22, "| py|test            |");
  EXPECT_EQ(Chips(text)[0].substr(Chips(text)[0].find("processes {")),
            "processes { pid: 485946 name: \"py|test\" memory_mib: 5175 }");
}

}  // namespace
}  // namespace pyptox::agent
