#include "agent/watch/parse/npu_smi_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/watch/parse/tool_text.h"

namespace pyptox::agent {
namespace {

using v1::LoadProcess;

constexpr std::string_view kProcessId = "Process id:";
constexpr std::string_view kProcessName = "Process name:";
constexpr std::string_view kProcessMemory = "Process memory(MB):";
constexpr std::string_view kNoProcess = "No process in device.";
// The process is in another namespace; its row follows all the same.
constexpr std::string_view kNoName = "Get pid name failed.";
constexpr std::string_view kHardwareKeys[] = {"Serial Number", "VDie ID", "NDie ID", "UUID"};

struct Entry {
  std::string_view key;
  std::string_view value;
};

// `Chip Count                     : 2`
std::optional<Entry> ReadEntry(std::string_view line) {
  const size_t colon = line.find(" : ");
  if (colon == std::string_view::npos) return std::nullopt;
  return Entry{TrimBlanks(line.substr(0, colon)), TrimBlanks(line.substr(colon + 3))};
}

// `Process id:410022  Process name:                  Process memory(MB):38122`
std::optional<LoadProcess> ReadProcess(std::string_view line) {
  const size_t name = line.find(kProcessName);
  const size_t memory = line.rfind(kProcessMemory);
  if (name == std::string_view::npos || memory == std::string_view::npos || memory < name) return std::nullopt;
  LoadProcess process;
  const std::optional<uint64_t> pid = ReadWhole(TrimBlanks(line.substr(kProcessId.size(), name - kProcessId.size())));
  if (pid.has_value()) process.set_pid(*pid);
  const size_t after = name + kProcessName.size();
  process.set_name(PrintableName(TrimBlanks(line.substr(after, memory - after))));
  const std::optional<uint64_t> mib = ReadMebibytes(TrimBlanks(line.substr(memory + kProcessMemory.size())));
  if (mib.has_value()) process.set_memory_mib(*mib);
  return process;
}

std::optional<double> ReadPercent(std::string_view text) {
  const std::optional<double> value = ReadDecimal(text);
  return value.has_value() && *value <= 100 ? value : std::nullopt;
}

// Collects one chip's block after another.
class ListReader {
 public:
  absl::StatusOr<NpuList> Read(std::string_view text) {
    absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "npu-smi");
    if (!lines.ok()) return lines.status();
    for (const std::string_view line : *lines) {
      if (absl::Status status = Line(TrimBlanks(line)); !status.ok()) return status;
    }
    if (absl::Status status = EndBlock(); !status.ok()) return status;
    if (list_.chips.empty()) return absl::InvalidArgumentError("npu-smi: the list names no chip");
    if (count_.has_value() && *count_ != list_.chips.size()) {
      return absl::InvalidArgumentError(
          fmt::format("npu-smi: {} of {} chips are listed, the output is cut", list_.chips.size(), *count_));
    }
    return std::move(list_);
  }

 private:
  absl::Status Line(std::string_view line) {
    if (line.empty()) return EndBlock();
    if (line == kNoName) return absl::OkStatus();
    if (line == kNoProcess) {
      block_.processes_listed = true;
      filled_ = true;
      return absl::OkStatus();
    }
    if (line.starts_with(kProcessId)) {
      std::optional<LoadProcess> process = ReadProcess(line);
      if (!process.has_value()) return ToolLineFault("npu-smi", line);
      block_.processes_listed = true;
      block_.processes.push_back(*std::move(process));
      filled_ = true;
      return absl::OkStatus();
    }
    const std::optional<Entry> entry = ReadEntry(line);
    if (!entry.has_value()) return ToolLineFault("npu-smi", line);
    return Keyed(line, *entry);
  }

  absl::Status Keyed(std::string_view line, const Entry& entry) {
    if (entry.key == "NPU ID") {
      list_.npu_id = ReadWhole32(entry.value);
      return list_.npu_id.has_value() ? absl::OkStatus() : ToolLineFault("npu-smi", line);
    }
    if (entry.key == "Chip Count") {
      count_ = ReadWhole32(entry.value);
      return count_.has_value() ? absl::OkStatus() : ToolLineFault("npu-smi", line);
    }
    if (entry.key == "Chip ID") return ChipId(line, entry.value);
    filled_ = true;
    if (entry.key == "Chip Name" && entry.value == "mcu") mcu_ = true;
    if (entry.key == "HBM Capacity(MB)") block_.hbm_total_mib = ReadMebibytes(entry.value);
    if (entry.key == "HBM Usage Rate(%)") block_.hbm_percent = ReadPercent(entry.value);
    if (entry.key == "Aicore Usage Rate(%)") block_.aicore_percent = ReadPercent(entry.value);
    if (entry.key == "Aicore curFreq(MHZ)") block_.aicore_mhz = ReadDecimal(entry.value);
    if (entry.key == "NPU Real-time Power(W)") block_.power_w = ReadDecimal(entry.value);
    if (entry.key == "Health Status") block_.health = PrintableName(entry.value);
    return absl::OkStatus();
  }

  // Ends the block when its rows came before; else the rows follow, up to the next one.
  absl::Status ChipId(std::string_view line, std::string_view value) {
    if (has_id_) {
      if (absl::Status status = EndBlock(); !status.ok()) return status;
    }
    const std::optional<uint32_t> id = ReadWhole32(value);
    if (!id.has_value()) return ToolLineFault("npu-smi", line);
    block_.chip_id = *id;
    has_id_ = true;
    return filled_ ? EndBlock() : absl::OkStatus();
  }

  absl::Status EndBlock() {
    const bool whole = has_id_ && !mcu_;
    const bool lost = filled_ && !has_id_ && !mcu_;
    const NpuChipFacts block = std::exchange(block_, {});
    has_id_ = filled_ = mcu_ = false;
    if (lost) return absl::InvalidArgumentError("npu-smi: a block has no Chip ID, the output is cut");
    if (!whole) return absl::OkStatus();
    const auto same = [&](const NpuChipFacts& chip) { return chip.chip_id == block.chip_id; };
    if (std::any_of(list_.chips.begin(), list_.chips.end(), same)) {
      return absl::InvalidArgumentError(fmt::format("npu-smi: chip {} is listed twice", block.chip_id));
    }
    list_.chips.push_back(block);
    return absl::OkStatus();
  }

  NpuList list_;
  std::optional<uint32_t> count_;
  NpuChipFacts block_;
  bool has_id_ = false;
  // It has lines of its own.
  bool filled_ = false;
  bool mcu_ = false;
};

}  // namespace

absl::StatusOr<NpuList> ParseNpuList(std::string_view text) { return ListReader().Read(text); }

absl::StatusOr<std::vector<NpuMapping>> ParseNpuMap(std::string_view text) {
  absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "npu-smi");
  if (!lines.ok()) return lines.status();
  std::vector<NpuMapping> rows;
  // With the column `Chip Phy-ID` a row has five words, without it four.
  bool has_phy = false;
  bool has_header = false;
  for (const std::string_view line : *lines) {
    const std::vector<std::string_view> words = SplitWords(line);
    if (words.empty()) continue;
    if (!has_header) {
      if (!TrimBlanks(line).starts_with("NPU ID")) return ToolLineFault("npu-smi", line);
      has_header = true;
      has_phy = line.find("Chip Phy-ID") != std::string_view::npos;
      continue;
    }
    if (words.size() != (has_phy ? 5u : 4u)) return ToolLineFault("npu-smi", line);
    if (words.back() == "Mcu") continue;
    const std::optional<uint32_t> npu = ReadWhole32(words[0]);
    const std::optional<uint32_t> chip = ReadWhole32(words[1]);
    if (!npu.has_value() || !chip.has_value()) return ToolLineFault("npu-smi", line);
    rows.push_back({*npu, *chip, ReadWhole32(words[2]), has_phy ? ReadWhole32(words[3]) : std::nullopt,
                    PrintableName(words.back())});
  }
  if (rows.empty()) return absl::InvalidArgumentError("npu-smi: the map names no chip");
  return rows;
}

absl::StatusOr<std::vector<NpuChipCount>> ParseNpuCounts(std::string_view text) {
  absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "npu-smi");
  if (!lines.ok()) return lines.status();
  std::optional<uint32_t> total;
  std::optional<uint32_t> npu;
  std::vector<NpuChipCount> counts;
  for (const std::string_view line : *lines) {
    if (TrimBlanks(line).empty()) continue;
    const std::optional<Entry> entry = ReadEntry(line);
    const std::optional<uint32_t> value = entry.has_value() ? ReadWhole32(entry->value) : std::nullopt;
    if (!value.has_value()) return ToolLineFault("npu-smi", line);
    if (entry->key == "Total Count") {
      total = value;
    } else if (entry->key == "NPU ID") {
      npu = value;
    } else if (entry->key == "Chip Count" && npu.has_value()) {
      counts.push_back({*std::exchange(npu, std::nullopt), *value});
    } else {
      return ToolLineFault("npu-smi", line);
    }
  }
  if (!total.has_value() || *total != counts.size()) {
    return absl::InvalidArgumentError(
        fmt::format("npu-smi: {} NPUs are listed, not as many as it counts", counts.size()));
  }
  return counts;
}

absl::StatusOr<std::string> ParseNpuSocName(std::string_view text) {
  absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "npu-smi");
  if (!lines.ok()) return lines.status();
  std::string type, name, npu_name;
  for (const std::string_view line : *lines) {
    const std::optional<Entry> entry = ReadEntry(line);
    if (!entry.has_value()) continue;
    if (entry->key == "Chip Type") type = PrintableName(entry->value);
    if (entry->key == "Chip Name") name = PrintableName(entry->value);
    if (entry->key == "NPU Name") npu_name = PrintableName(entry->value);
  }
  if (!name.empty() && !type.empty()) return type + name;
  if (!name.empty() && !npu_name.empty()) return name + "_" + npu_name;
  return absl::InvalidArgumentError("npu-smi: the board list names no Chip Type and no NPU Name");
}

std::string RedactNpuText(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::string_view trimmed = TrimBlanks(line);
    const bool secret = std::any_of(std::begin(kHardwareKeys), std::end(kHardwareKeys),
                                    [&](std::string_view key) { return trimmed.starts_with(key); });
    const size_t colon = line.find(':');
    if (secret) {
      safe += std::string(line.substr(0, std::min(colon, line.size()))) + ": [redacted]";
    } else {
      safe += line;
    }
    if (end < text.size()) safe += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return safe;
}

}  // namespace pyptox::agent
