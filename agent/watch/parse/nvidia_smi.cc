#include "agent/watch/parse/nvidia_smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "agent/watch/parse/tool_text.h"

namespace pyptox::agent {
namespace {

using v1::GpuLoad;
using v1::LoadProcess;

constexpr std::string_view kIndex = "index";
constexpr std::string_view kDriver = "driver_version";
constexpr std::string_view kPid = "pid";
constexpr std::string_view kName = "process_name";
constexpr std::string_view kUsedMemory = "used_gpu_memory";
constexpr std::string_view kMebibytes = "MiB";

// A number of GpuLoad: its column, the unit that the tool writes, and where it goes.
struct NumberColumn {
  std::string_view name;
  std::string_view unit;
  double most;
  void (*set)(GpuLoad*, double);
};

// Memory of no card reaches 2^40 MiB; the bound keeps the conversion to whole MiB exact.
constexpr double kMostMebibytes = 1099511627776.0;
constexpr double kMostMegahertz = 1e6;
constexpr double kMostWatts = 1e6;

const NumberColumn kNumbers[] = {
    {"utilization.gpu", "%", 100, [](GpuLoad* gpu, double value) { gpu->set_utilization_percent(value); }},
    {"clocks.sm", "MHz", kMostMegahertz, [](GpuLoad* gpu, double value) { gpu->set_sm_clock_mhz(value); }},
    {"clocks.max.sm", "MHz", kMostMegahertz, [](GpuLoad* gpu, double value) { gpu->set_max_sm_clock_mhz(value); }},
    {"power.draw", "W", kMostWatts, [](GpuLoad* gpu, double value) { gpu->set_power_w(value); }},
    {"memory.used", kMebibytes, kMostMebibytes,
     [](GpuLoad* gpu, double value) { gpu->set_memory_used_mib(static_cast<uint64_t>(value)); }},
    {"memory.total", kMebibytes, kMostMebibytes,
     [](GpuLoad* gpu, double value) { gpu->set_memory_total_mib(static_cast<uint64_t>(value)); }},
};

// `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `[GPU requires reset]`, `[Insufficient Permissions]`, `N/A`.
bool IsUnknown(std::string_view cell) {
  return cell == "N/A" || (cell.size() >= 2 && cell.front() == '[' && cell.back() == ']');
}

// A column's name without its unit. The header says clocks.current.sm where clocks.sm was asked.
std::string_view ColumnName(std::string_view title) {
  const std::string_view name = title.substr(0, title.find(' '));
  return name == "clocks.current.sm" ? "clocks.sm" : name;
}

// A column as the header names it: `power.draw [W]`. `unit` is empty when the header gives none.
struct Column {
  std::string_view name;
  std::string_view unit;
};

Column ReadTitle(std::string_view title) {
  Column column{ColumnName(title), {}};
  const size_t open = title.find(" [");
  if (open != std::string_view::npos && title.back() == ']') {
    column.unit = title.substr(open + 2, title.size() - open - 3);
  }
  return column;
}

// `427 MHz`, or `427` with nounits. Unknown when the cell's or the header's unit is another than `unit`.
std::optional<double> ReadNumber(std::string_view cell, const Column& column, std::string_view unit, double most) {
  if (!column.unit.empty() && column.unit != unit) return std::nullopt;
  const std::vector<std::string_view> words = SplitWords(cell);
  if (words.empty() || words.size() > 2 || (words.size() == 2 && words[1] != unit)) return std::nullopt;
  const std::optional<double> value = ReadDecimal(words[0]);
  if (!value.has_value() || *value > most) return std::nullopt;
  return value;
}

// The header's columns, or those that were asked, and the rows below.
struct Csv {
  std::vector<Column> columns;
  std::vector<std::string_view> rows;
};

absl::StatusOr<Csv> ReadCsv(std::string_view text, const NvidiaQuery& query, std::string_view first_column) {
  absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "nvidia-smi");
  if (!lines.ok()) return lines.status();
  Csv csv;
  for (const std::string_view line : *lines) {
    if (!TrimBlanks(line).empty()) csv.rows.push_back(line);
  }
  if (!query.header) {
    for (const std::string_view column : query.columns) csv.columns.push_back({ColumnName(column), {}});
    return csv;
  }
  if (csv.rows.empty()) return absl::InvalidArgumentError("nvidia-smi wrote nothing, not even the header");
  for (const std::string_view title : SplitCells(csv.rows.front(), ',')) csv.columns.push_back(ReadTitle(title));
  if (csv.columns.front().name != first_column) {
    return ToolLineFault("nvidia-smi", csv.rows.front());
  }
  csv.rows.erase(csv.rows.begin());
  return csv;
}

void SetGpuCell(const Column& column, std::string_view cell, GpuLoad* gpu) {
  if (column.name == kDriver) {
    if (!IsUnknown(cell)) gpu->set_driver(PrintableName(cell));
    return;
  }
  for (const NumberColumn& number : kNumbers) {
    if (number.name != column.name) continue;
    const std::optional<double> value = ReadNumber(cell, column, number.unit, number.most);
    if (value.has_value()) {
      number.set(gpu, *value);
    } else {
      gpu->add_unknown(fmt::format("{}: {}", column.name, PrintableName(cell)));
    }
  }
}

// Cells of a process row, one a column. A name may hold commas: what is too much belongs to it.
std::vector<std::string_view> ProcessCells(std::string_view row, const std::vector<Column>& columns) {
  std::vector<std::string_view> cells = SplitCells(row, ',');
  const auto name = std::find_if(columns.begin(), columns.end(), [](const Column& c) { return c.name == kName; });
  if (cells.size() <= columns.size() || name == columns.end()) return cells;
  const auto first = cells.begin() + (name - columns.begin());
  const auto last = first + static_cast<std::ptrdiff_t>(cells.size() - columns.size());
  *first = std::string_view(first->data(), static_cast<size_t>(last->data() + last->size() - first->data()));
  cells.erase(first + 1, last + 1);
  return cells;
}

}  // namespace

NvidiaQuery GpuQuery() {
  NvidiaQuery query;
  query.columns = {kIndex, kDriver};
  for (const NumberColumn& number : kNumbers) query.columns.push_back(number.name);
  return query;
}

NvidiaQuery ComputeAppsQuery() { return {{kPid, kUsedMemory, kName}, true}; }

std::vector<std::string> NvidiaArguments(std::string_view option, const NvidiaQuery& query) {
  std::string columns;
  for (const std::string_view column : query.columns)
    columns += fmt::format("{}{}", columns.empty() ? "" : ",", column);
  return {fmt::format("--{}={}", option, columns), query.header ? "--format=csv" : "--format=csv,noheader,nounits"};
}

absl::StatusOr<std::vector<GpuLoad>> ParseNvidiaGpus(std::string_view text, const NvidiaQuery& query) {
  const absl::StatusOr<Csv> csv = ReadCsv(text, query, kIndex);
  if (!csv.ok()) return csv.status();
  std::vector<GpuLoad> gpus;
  for (const std::string_view row : csv->rows) {
    const std::vector<std::string_view> cells = SplitCells(row, ',');
    const std::optional<uint32_t> index = ReadWhole32(cells.front());
    if (!index.has_value() || cells.size() > csv->columns.size()) return ToolLineFault("nvidia-smi", row);
    GpuLoad& gpu = gpus.emplace_back();
    gpu.set_index(*index);
    for (size_t i = 1; i < cells.size(); ++i) SetGpuCell(csv->columns[i], cells[i], &gpu);
  }
  return gpus;
}

absl::StatusOr<std::vector<LoadProcess>> ParseNvidiaProcesses(std::string_view text, const NvidiaQuery& query) {
  const absl::StatusOr<Csv> csv = ReadCsv(text, query, kPid);
  if (!csv.ok()) return csv.status();
  std::vector<LoadProcess> processes;
  for (const std::string_view row : csv->rows) {
    const std::vector<std::string_view> cells = ProcessCells(row, csv->columns);
    const std::optional<uint64_t> pid = ReadWhole(cells.front());
    if ((!pid.has_value() && !IsUnknown(cells.front())) || cells.size() > csv->columns.size())
      return ToolLineFault("nvidia-smi", row);
    LoadProcess& process = processes.emplace_back();
    if (pid.has_value()) process.set_pid(*pid);
    for (size_t i = 1; i < cells.size(); ++i) {
      const Column& column = csv->columns[i];
      if (column.name == kName && !IsUnknown(cells[i])) process.set_name(PrintableName(cells[i]));
      if (column.name != kUsedMemory) continue;
      const std::optional<double> memory = ReadNumber(cells[i], column, kMebibytes, kMostMebibytes);
      if (memory.has_value()) process.set_memory_mib(static_cast<uint64_t>(*memory));
    }
  }
  return processes;
}

}  // namespace pyptox::agent
