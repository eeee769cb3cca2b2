// Reads the table of `npu-smi info`. Columns are found by the header's words, since layouts differ: 98 columns up to
// driver 25, 116 with `Process id in container` from 26, none for HBM and no processes in 26.0.rc1; one die an NPU (A2)
// or two with a Phy-ID (A3). Pure.
#ifndef PYPTOX_AGENT_WATCH_PARSE_NPU_SMI_TABLE_H_
#define PYPTOX_AGENT_WATCH_PARSE_NPU_SMI_TABLE_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// One NpuLoad a chip, in the table's order; `processes_listed` for those of whose NPU the process table says something,
// be it `No running processes found in NPU 3`. INVALID_ARGUMENT with the line for anything that is no such table, the
// errors of dcmi included, for a chip that appears twice, a process of a chip that does not appear, and for a table
// that is cut: the last line must be a border, so no process row can have been lost behind another.
absl::StatusOr<std::vector<v1::NpuLoad>> ParseNpuTable(std::string_view text);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_PARSE_NPU_SMI_TABLE_H_
