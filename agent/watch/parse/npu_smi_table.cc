#include "agent/watch/parse/npu_smi_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "agent/watch/parse/tool_text.h"

namespace pyptox::agent {
namespace {

using v1::LoadProcess;
using v1::NpuLoad;

constexpr std::string_view kNoProcesses = "No running processes found in NPU ";

// `0000:C1:00.0`: what tells the second row of a chip from all others. Every row begins with a number.
bool IsBusId(std::string_view cell) {
  constexpr std::string_view kShape = "XXXX:XX:XX.X";
  if (cell.size() != kShape.size()) return false;
  for (size_t i = 0; i < cell.size(); ++i) {
    const bool hex =
        (cell[i] >= '0' && cell[i] <= '9') || (cell[i] >= 'A' && cell[i] <= 'F') || (cell[i] >= 'a' && cell[i] <= 'f');
    if (kShape[i] == 'X' ? !hex : cell[i] != kShape[i]) return false;
  }
  return true;
}

bool IsBorder(std::string_view line) {
  return line.size() >= 2 && line.front() == '+' && line.back() == '+' &&
         line.find_first_not_of("+-=") == std::string_view::npos;
}

// The values below a header of several words: `0   0    / 0   41877/ 65536` are three. A word or a pair is one value.
struct Value {
  std::string_view first;
  // After the slash; empty for a single one.
  std::string_view second;
};

std::vector<Value> ReadValues(std::string_view cell) {
  std::vector<Value> values;
  bool slash = false;
  while (!(cell = TrimBlanks(cell)).empty()) {
    if (cell.front() == '/') {
      slash = true;
      cell.remove_prefix(1);
      continue;
    }
    const size_t end = std::min(cell.find_first_of(" \t/"), cell.size());
    const std::string_view word = cell.substr(0, end);
    cell.remove_prefix(end);
    if (slash && !values.empty()) {
      values.back().second = word;
    } else {
      values.push_back({word, {}});
    }
    slash = false;
  }
  return values;
}

// The value below the header word that begins with `title`; none when the row has another number of values.
std::optional<Value> ValueBelow(std::string_view header, std::string_view title, std::string_view cell) {
  const std::vector<std::string_view> titles = SplitWords(header);
  const std::vector<Value> values = ReadValues(cell);
  if (titles.size() != values.size()) return std::nullopt;
  for (size_t i = 0; i < titles.size(); ++i) {
    if (titles[i].starts_with(title)) return values[i];
  }
  return std::nullopt;
}

bool HasTitle(const std::vector<std::string_view>& cells, std::string_view title) {
  return std::find(cells.begin(), cells.end(), title) != cells.end();
}

class TableReader {
 public:
  absl::StatusOr<std::vector<NpuLoad>> Read(std::string_view text) {
    absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "npu-smi");
    if (!lines.ok()) return lines.status();
    bool border = false;
    for (const std::string_view whole : *lines) {
      const std::string_view line = TrimBlanks(whole);
      if (line.empty()) continue;
      border = IsBorder(line);
      if (border) continue;
      if (line.size() < 2 || line.front() != '|' || line.back() != '|') return ToolLineFault("npu-smi", line);
      if (absl::Status status = Row(line, SplitCells(line.substr(1, line.size() - 2), '|')); !status.ok())
        return status;
    }
    if (chips_.empty()) return absl::InvalidArgumentError("npu-smi: the table has no chip");
    if (!border) return absl::InvalidArgumentError("npu-smi: the table has no lower border, the output is cut");
    if (open_chip_) return absl::InvalidArgumentError("npu-smi: a chip has no second row, the output is cut");
    return Take();
  }

 private:
  using Cells = std::vector<std::string_view>;

  absl::Status Row(std::string_view line, const Cells& cells) {
    if (cells.size() == 1) {
      if (cells[0].starts_with("npu-smi ")) return Version(cells[0]);
      if (cells[0].starts_with(kNoProcesses)) return NoProcesses(line, cells[0].substr(kNoProcesses.size()));
      return ToolLineFault("npu-smi", line);
    }
    if (cells.size() == 3 && cells[1] == "Health") {
      first_header_ = cells;
      return absl::OkStatus();
    }
    if (cells.size() == 3 && cells[1] == "Bus-Id") {
      second_header_ = cells;
      return absl::OkStatus();
    }
    if (HasTitle(cells, "Process id")) {
      process_header_ = cells;
      return absl::OkStatus();
    }
    if (!process_header_.empty()) return Process(line, cells);
    if (first_header_.empty() || second_header_.empty() || cells.size() != 3) return ToolLineFault("npu-smi", line);
    return IsBusId(cells[1]) ? SecondRow(line, cells) : FirstRow(line, cells);
  }

  // `npu-smi 25.2.0     Version: 25.2.0`: the second is the driver's.
  absl::Status Version(std::string_view cell) {
    const size_t at = cell.find("Version:");
    if (at != std::string_view::npos) driver_ = PrintableName(TrimBlanks(cell.substr(at + 8)));
    return absl::OkStatus();
  }

  absl::Status FirstRow(std::string_view line, const Cells& cells) {
    const std::vector<std::string_view> words = SplitWords(cells[0]);
    const std::optional<uint32_t> npu = words.empty() ? std::nullopt : ReadWhole32(words[0]);
    if (!npu.has_value() || words.size() < 2 || open_chip_) return ToolLineFault("npu-smi", line);
    open_chip_ = true;
    NpuLoad& chip = chips_.emplace_back();
    chip.set_npu_id(*npu);
    chip.set_health(PrintableName(cells[1]));
    chip.set_driver(driver_);
    const std::optional<Value> power = ValueBelow(first_header_[2], "Power", cells[2]);
    if (power.has_value()) {
      if (const std::optional<double> watts = ReadDecimal(power->first)) chip.set_power_w(*watts);
    }
    return absl::OkStatus();
  }

  absl::Status SecondRow(std::string_view line, const Cells& cells) {
    const std::vector<std::string_view> titles = SplitWords(second_header_[0]);
    const std::vector<std::string_view> words = SplitWords(cells[0]);
    const std::optional<uint32_t> id = words.empty() ? std::nullopt : ReadWhole32(words[0]);
    if (!open_chip_ || !id.has_value()) return ToolLineFault("npu-smi", line);
    open_chip_ = false;
    NpuLoad& chip = chips_.back();
    chip.set_chip_id(*id);
    if (!seen_.insert({chip.npu_id(), *id}).second) return ToolLineFault("npu-smi", line);
    if (titles.size() == 2 && titles[1] == "Phy-ID" && words.size() == 2) {
      if (const std::optional<uint32_t> phy = ReadWhole32(words[1])) chip.set_phy_id(*phy);
    }
    if (const std::optional<Value> busy = ValueBelow(second_header_[2], "AICore", cells[2])) {
      const std::optional<double> percent = busy->second.empty() ? ReadDecimal(busy->first) : std::nullopt;
      if (percent.has_value() && *percent <= 100) chip.set_aicore_percent(*percent);
    }
    if (const std::optional<Value> hbm = ValueBelow(second_header_[2], "HBM-Usage", cells[2])) {
      const std::optional<uint64_t> used = ReadMebibytes(hbm->first);
      const std::optional<uint64_t> total = ReadMebibytes(hbm->second);
      // 0 of 0 is what a tool writes that does not know.
      if (used.has_value() && total.has_value() && *total > 0) {
        chip.set_hbm_used_mib(*used);
        chip.set_hbm_total_mib(*total);
      }
    }
    return absl::OkStatus();
  }

  absl::Status NoProcesses(std::string_view line, std::string_view rest) {
    const std::vector<std::string_view> words = SplitWords(rest);
    const std::optional<uint32_t> npu = words.empty() ? std::nullopt : ReadWhole32(words[0]);
    if (!npu.has_value() || words.size() != 1 || process_header_.empty() || !HasNpu(*npu))
      return ToolLineFault("npu-smi", line);
    listed_.insert(*npu);
    return absl::OkStatus();
  }

  absl::Status Process(std::string_view line, const Cells& cells) {
    const size_t columns = process_header_.size();
    const std::vector<std::string_view> ids = SplitWords(cells[0]);
    if (ids.size() != 2 || cells.size() < columns) return ToolLineFault("npu-smi", line);
    const std::optional<uint32_t> npu = ReadWhole32(ids[0]);
    const std::optional<uint32_t> chip_id = ReadWhole32(ids[1]);
    if (!npu.has_value() || !chip_id.has_value()) return ToolLineFault("npu-smi", line);
    const auto chip = std::find_if(chips_.begin(), chips_.end(), [&](const NpuLoad& load) {
      return load.npu_id() == *npu && load.chip_id() == *chip_id;
    });
    if (chip == chips_.end()) return ToolLineFault("npu-smi", line);
    listed_.insert(*npu);
    LoadProcess* process = chip->add_processes();
    // A name may hold a bar: cells left of it count from the left, those right of it from the right.
    const size_t surplus = cells.size() - columns;
    size_t name = columns;
    for (size_t i = 1; i < columns; ++i) {
      const std::string_view title = process_header_[i];
      if (title == "Process name") name = i;
      const std::string_view cell = cells[i > name ? i + surplus : i];
      if (title == "Process name") {
        const std::string_view last = cells[i + surplus];
        process->set_name(PrintableName({cell.data(), static_cast<size_t>(last.data() + last.size() - cell.data())}));
        continue;
      }
      if (title.starts_with("Process memory")) {
        if (const std::optional<uint64_t> memory = ReadMebibytes(cell)) process->set_memory_mib(*memory);
        continue;
      }
      const std::optional<uint64_t> number = ReadWhole(cell);
      if (!number.has_value()) continue;
      if (title == "Process id") process->set_pid(*number);
      if (title == "Process id in container") process->set_container_pid(*number);
    }
    return absl::OkStatus();
  }

  bool HasNpu(uint32_t npu) const {
    return std::any_of(chips_.begin(), chips_.end(), [&](const NpuLoad& chip) { return chip.npu_id() == npu; });
  }

  std::vector<NpuLoad> Take() {
    for (NpuLoad& chip : chips_) chip.set_processes_listed(listed_.contains(chip.npu_id()));
    return std::move(chips_);
  }

  Cells first_header_;
  Cells second_header_;
  Cells process_header_;
  std::string driver_;
  std::vector<NpuLoad> chips_;
  // (NPU, chip) of complete rows.
  std::set<std::pair<uint32_t, uint32_t>> seen_;
  // NPUs of which the process table says something.
  std::set<uint32_t> listed_;
  // The first row of a chip has been read and its second has not.
  bool open_chip_ = false;
};

}  // namespace

absl::StatusOr<std::vector<NpuLoad>> ParseNpuTable(std::string_view text) { return TableReader().Read(text); }

}  // namespace pyptox::agent
