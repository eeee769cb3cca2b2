// Reads the CSV of `nvidia-smi --query-gpu` and `--query-compute-apps`. Its table is never read: the layout changes
// with the driver (at 610 `Driver Version` became `KMD Version`). Pure.
//
// A cell in brackets, `N/A`, or with another unit than expected is unknown. A line that is neither a header nor a row,
// e.g. `Unable to determine the device handle for GPU1`, makes the whole answer INVALID_ARGUMENT with its text,
// whatever good rows stand before it.
#ifndef PYPTOX_AGENT_WATCH_PARSE_NVIDIA_SMI_H_
#define PYPTOX_AGENT_WATCH_PARSE_NVIDIA_SMI_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// How the tool was asked.
struct NvidiaQuery {
  // Columns in the order asked; used when there is no header.
  std::vector<std::string_view> columns;
  // Without `noheader`: then an answer without a header is cut. The sampler asks like that.
  bool header = true;
};

// What the sampler asks of a GPU: index, driver and every number of GpuLoad.
NvidiaQuery GpuQuery();
// What it asks of processes: the name last, since it may hold commas.
NvidiaQuery ComputeAppsQuery();
// `--query-gpu=...` or `--query-compute-apps=...`, and `--format=csv`.
std::vector<std::string> NvidiaArguments(std::string_view option, const NvidiaQuery& query);

// One GpuLoad a row, processes not listed. Cells that are missing at a row's end are unknown. Columns that nobody knows
// are passed over.
absl::StatusOr<std::vector<v1::GpuLoad>> ParseNvidiaGpus(std::string_view text, const NvidiaQuery& query);

// One process a row. Rows may be shorter than the header (WSL2). None is no proof of an idle GPU where processes are
// hidden.
absl::StatusOr<std::vector<v1::LoadProcess>> ParseNvidiaProcesses(std::string_view text, const NvidiaQuery& query);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_PARSE_NVIDIA_SMI_H_
