#include "agent/watch/parse/npu_smi_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/agent/watch/fixture.h"

namespace pyptox::agent {
namespace {

NpuList List(const std::string& text) {
  auto list = ParseNpuList(text);
  EXPECT_TRUE(list.ok()) << list.status();
  return list.ok() ? *std::move(list) : NpuList();
}

TEST(NpuSmiList, BusyCard) {
  const NpuList list = List(Fixture("npu-smi_info_-t_proc-mem_910B3_busy.txt"));
  EXPECT_EQ(list.npu_id, 2u);
  ASSERT_EQ(list.chips.size(), 1u);
  EXPECT_EQ(list.chips[0].chip_id, 0u);
  EXPECT_TRUE(list.chips[0].processes_listed);
  ASSERT_EQ(list.chips[0].processes.size(), 2u);
  EXPECT_EQ(list.chips[0].processes[0].ShortDebugString(), "pid: 410022 memory_mib: 38122");
  EXPECT_EQ(list.chips[0].processes[1].ShortDebugString(), "pid: 410307 name: \"pxr_worker\" memory_mib: 377");
}

TEST(NpuSmiList, ChipIdAfterItsRows) {
  const NpuList list = List(Fixture("npu-smi_info_-t_proc-mem_910C_one-die-busy.txt"));
  EXPECT_EQ(list.npu_id, 7u);
  ASSERT_EQ(list.chips.size(), 2u);
  EXPECT_EQ(list.chips[0].chip_id, 0u);
  EXPECT_TRUE(list.chips[0].processes_listed);
  EXPECT_EQ(list.chips[0].processes.size(), 0u);
  EXPECT_EQ(list.chips[1].chip_id, 1u);
  ASSERT_EQ(list.chips[1].processes.size(), 1u);
  EXPECT_EQ(list.chips[1].processes[0].ShortDebugString(), "pid: 733120 memory_mib: 28911");
}

TEST(NpuSmiList, ChipIdAfterOrBeforeItsRowsWithoutBlankLines) {
  const std::string row = "\tProcess id:5  Process name:a b  Process memory(MB):9\n";
  const std::string none = "\tNo process in device.\n";
  const std::string head = "\tNPU ID : 7\n\tChip Count : 2\n";
  for (const std::string& text : {head + none + "\tChip ID : 0\n" + row + "\tChip ID : 1\n",
                                  head + "\tChip ID : 0\n" + none + "\tChip ID : 1\n" + row}) {
    const NpuList list = List(text);
    ASSERT_EQ(list.chips.size(), 2u) << text;
    EXPECT_EQ(list.chips[0].processes.size(), 0u) << text;
    ASSERT_EQ(list.chips[1].processes.size(), 1u) << text;
    EXPECT_EQ(list.chips[1].processes[0].ShortDebugString(), "pid: 5 name: \"a b\" memory_mib: 9");
  }
}

TEST(NpuSmiList, IdleCardAndNoiseLine) {
  const NpuList idle = List(Fixture("npu-smi_info_-t_proc-mem_idle.txt"));
  EXPECT_EQ(idle.npu_id, 0u);
  ASSERT_EQ(idle.chips.size(), 1u);
  EXPECT_TRUE(idle.chips[0].processes_listed);
  EXPECT_EQ(idle.chips[0].processes.size(), 0u);
  const NpuList noisy = List(Fixture("npu-smi_info_-t_proc-mem_pid-name-failed.txt"));
  EXPECT_FALSE(noisy.npu_id.has_value());
  ASSERT_EQ(noisy.chips.size(), 1u);
  ASSERT_EQ(noisy.chips[0].processes.size(), 1u);
  EXPECT_EQ(noisy.chips[0].processes[0].ShortDebugString(), "pid: 410022 memory_mib: 456");
}

TEST(NpuSmiList, Usages) {
  const NpuList one = List(Fixture("npu-smi_info_-t_usages_910B3.txt"));
  ASSERT_EQ(one.chips.size(), 1u);
  EXPECT_EQ(one.chips[0].hbm_total_mib, 65536u);
  EXPECT_EQ(one.chips[0].hbm_percent, 5.0);
  EXPECT_EQ(one.chips[0].aicore_percent, 0.0);
  EXPECT_FALSE(one.chips[0].processes_listed);
  const NpuList two = List(Fixture("npu-smi_info_-t_usages_910C_dual-die.txt"));
  EXPECT_EQ(two.npu_id, 7u);
  ASSERT_EQ(two.chips.size(), 2u);
  EXPECT_EQ(two.chips[0].hbm_percent, 5.0);
  EXPECT_EQ(two.chips[0].aicore_percent, 0.0);
  EXPECT_EQ(two.chips[1].chip_id, 1u);
  EXPECT_EQ(two.chips[1].hbm_percent, 48.0);
  EXPECT_EQ(two.chips[1].aicore_percent, 17.0);
}

TEST(NpuSmiList, TheMcuDoesNotOverwriteTheChip) {
  const NpuList list = List(Fixture("npu-smi_info_-t_clocks_910B3.txt"));
  ASSERT_EQ(list.chips.size(), 1u);
  EXPECT_EQ(list.chips[0].chip_id, 0u);
  EXPECT_EQ(list.chips[0].power_w, 92.1);
  EXPECT_EQ(list.chips[0].aicore_mhz, 800.0);
  EXPECT_EQ(list.chips[0].aicore_percent, 0.0);
  EXPECT_EQ(list.chips[0].hbm_percent, 5.0);
}

TEST(NpuSmiList, Health) {
  const NpuList list = List(Fixture("npu-smi_info_-t_health.txt"));
  ASSERT_EQ(list.chips.size(), 1u);
  EXPECT_EQ(list.chips[0].health, "OK");
}

TEST(NpuSmiList, Maps) {
  const auto map = ParseNpuMap(Fixture("npu-smi_info_-m_A3.txt"));
  ASSERT_TRUE(map.ok()) << map.status();
  ASSERT_EQ(map->size(), 4u);
  EXPECT_EQ((*map)[3].npu_id, 7u);
  EXPECT_EQ((*map)[3].chip_id, 1u);
  EXPECT_EQ((*map)[3].logic_id, 15u);
  EXPECT_EQ((*map)[3].phy_id, 15u);
  EXPECT_EQ((*map)[3].name, "Ascend910");
  const auto counts = ParseNpuCounts(Fixture("npu-smi_info_-l.txt"));
  ASSERT_TRUE(counts.ok()) << counts.status();
  ASSERT_EQ(counts->size(), 2u);
  EXPECT_EQ((*counts)[1].npu_id, 1u);
  EXPECT_EQ((*counts)[1].chips, 2u);
}

TEST(NpuSmiList, SocNames) {
  EXPECT_EQ(ParseNpuSocName(Fixture("npu-smi_info_-t_board_i0_c0_910B3_A2.txt")).value_or(""), "Ascend910B3");
  EXPECT_EQ(ParseNpuSocName(Fixture("npu-smi_info_-t_board_i7_c1_910C_A3.txt")).value_or(""), "Ascend910_9392");
  EXPECT_FALSE(ParseNpuSocName(Fixture("npu-smi_info_-t_board_i0.txt")).ok());
}

TEST(NpuSmiList, HardwareIdentityIsRedacted) {
  const std::string card = RedactNpuText(Fixture("npu-smi_info_-t_board_i0.txt"));
  EXPECT_EQ(card.find("EXAMPLE000001"), std::string::npos);
  EXPECT_NE(card.find("\tSerial Number                  : [redacted]\n"), std::string::npos);
  EXPECT_NE(card.find("EXAMPLE-BOARD"), std::string::npos);
  std::string chip = Fixture("npu-smi_info_-t_board_i0_c0_910B3_A2.txt");
  const std::string redacted = RedactNpuText(chip);
  EXPECT_EQ(redacted.find("00000000 00000000"), std::string::npos);
  EXPECT_NE(redacted.find("\tVDie ID                        : [redacted]\n"), std::string::npos);
  EXPECT_NE(redacted.find("\tNDie ID                        : [redacted]\n"), std::string::npos);
  // Cut text is redacted too.
  EXPECT_EQ(RedactNpuText("\tSerial Number : EXA"), "\tSerial Number : [redacted]");
}

TEST(NpuSmiList, ErrorsAreNoList) {
  for (const char* name :
       {"npu-smi_error_command_not_found.txt", "npu-smi_error_dcmi_busy.txt", "npu-smi_error_dcmi_not_init.txt",
        "npu-smi_info_-t_bad-type.txt", "npu-smi_info_910B3_drv26.1.txt"}) {
    EXPECT_FALSE(ParseNpuList(Fixture(name)).ok()) << name;
    EXPECT_FALSE(ParseNpuMap(Fixture(name)).ok()) << name;
    EXPECT_FALSE(ParseNpuCounts(Fixture(name)).ok()) << name;
  }
}

// Cut at any byte, a list with processes is refused: none of them can be missed.
TEST(NpuSmiList, ACutListNeverLosesAProcess) {
  for (const char* name : {"npu-smi_info_-t_proc-mem_910B3_busy.txt", "npu-smi_info_-t_proc-mem_910C_one-die-busy.txt",
                           "npu-smi_info_-t_proc-mem_pid-name-failed.txt"}) {
    const std::string text = Fixture(name);
    for (size_t size = 0; size < text.size(); ++size) {
      EXPECT_FALSE(ParseNpuList(text.substr(0, size)).ok()) << name << " " << size;
    }
  }
}

}  // namespace
}  // namespace pyptox::agent
