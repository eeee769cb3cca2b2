// Reads the `KEY : VALUE` lists of `npu-smi info -t TYPE -i NPU`, for what the table lacks, and the maps of `-l` and
// `-m`. Pure.
//
// A chip's block is where its `Chip ID` is: the last line in `usages`, `proc-mem` and `health`, the first in others. A
// block of the mcu repeats keys and belongs to no chip. INVALID_ARGUMENT with the line for what is no such list.
#ifndef PYPTOX_AGENT_WATCH_PARSE_NPU_SMI_LIST_H_
#define PYPTOX_AGENT_WATCH_PARSE_NPU_SMI_LIST_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// One chip of one NPU, whatever list it comes from. Absent: this list does not say.
struct NpuChipFacts {
  uint32_t chip_id = 0;
  // HBM Capacity(MB).
  std::optional<uint64_t> hbm_total_mib;
  // HBM Usage Rate(%), whole percents.
  std::optional<double> hbm_percent;
  // Aicore Usage Rate(%).
  std::optional<double> aicore_percent;
  // Aicore curFreq(MHZ): the only clock that npu-smi gives.
  std::optional<double> aicore_mhz;
  // NPU Real-time Power(W).
  std::optional<double> power_w;
  // Health Status; empty: this list does not say.
  std::string health;
  // Process rows, or `No process in device.`, were there.
  bool processes_listed = false;
  std::vector<v1::LoadProcess> processes;
};

struct NpuList {
  // NPU ID, where the list has it.
  std::optional<uint32_t> npu_id;
  // In the list's order, chip ids unique; as many as Chip Count says where it does.
  std::vector<NpuChipFacts> chips;
};

absl::StatusOr<NpuList> ParseNpuList(std::string_view text);

// A row of `npu-smi info -m`. The mcu's rows are left out.
struct NpuMapping {
  uint32_t npu_id = 0;
  uint32_t chip_id = 0;
  // What ASCEND_RT_VISIBLE_DEVICES and aclrtSetDevice count.
  std::optional<uint32_t> logic_id;
  // Only on newer drivers.
  std::optional<uint32_t> phy_id;
  std::string name;
};
absl::StatusOr<std::vector<NpuMapping>> ParseNpuMap(std::string_view text);

// A row of `npu-smi info -l`.
struct NpuChipCount {
  uint32_t npu_id = 0;
  uint32_t chips = 0;
};
// INVALID_ARGUMENT too when there are not as many as `Total Count` says.
absl::StatusOr<std::vector<NpuChipCount>> ParseNpuCounts(std::string_view text);

// SoC name out of `-t board -i N -c M`: `Ascend910B3` (A2: Chip Type and Chip Name) or `Ascend910_9392` (A3: Chip Name
// and NPU Name). INVALID_ARGUMENT when neither pair is there.
absl::StatusOr<std::string> ParseNpuSocName(std::string_view text);

// The text with values that identify the hardware (Serial Number, VDie ID, NDie ID, UUID) as `[redacted]`: board lists
// go nowhere without this.
std::string RedactNpuText(std::string_view text);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_PARSE_NPU_SMI_LIST_H_
