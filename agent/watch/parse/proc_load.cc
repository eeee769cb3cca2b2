#include "agent/watch/parse/proc_load.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "agent/watch/parse/tool_text.h"

namespace pyptox::agent {
namespace {

constexpr uint32_t kMostCpus = 8192;

absl::Status FileFault(std::string_view file, std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("{}: can't be read: {}", file, FirstLineOf(text)));
}

// `KEY=`VALUE out of a word.
std::optional<std::string_view> ValueOf(std::string_view word, std::string_view key) {
  if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != '=') return std::nullopt;
  return word.substr(key.size() + 1);
}

}  // namespace

absl::StatusOr<LoadAverage> ParseLoadAverage(std::string_view text) {
  const std::vector<std::string_view> words = SplitWords(text.substr(0, text.find('\n')));
  if (words.size() != 5 || !text.ends_with('\n')) return FileFault("/proc/loadavg", text);
  const std::optional<double> load = ReadDecimal(words[0]);
  const size_t slash = words[3].find('/');
  const std::optional<uint32_t> runnable = ReadWhole32(words[3].substr(0, slash));
  if (!load.has_value() || !runnable.has_value() || slash == std::string_view::npos) {
    return FileFault("/proc/loadavg", text);
  }
  return LoadAverage{*load, *runnable};
}

absl::StatusOr<CpuTicks> ParseCpuTicks(std::string_view text, const std::set<uint32_t>& cpus) {
  const absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "/proc/stat");
  if (!lines.ok()) return lines.status();
  CpuTicks ticks;
  for (const std::string_view line : *lines) {
    const std::vector<std::string_view> words = SplitWords(line);
    // cpu3 user nice system idle iowait irq softirq steal ...; the line `cpu` is the sum of all.
    if (words.empty() || !words[0].starts_with("cpu") || words[0] == "cpu") continue;
    const std::optional<uint32_t> cpu = ReadWhole32(words[0].substr(3));
    if (!cpu.has_value() || words.size() < 9) return FileFault("/proc/stat", line);
    ++ticks.online;
    if (!cpus.empty() && !cpus.contains(*cpu)) continue;
    ++ticks.cpus;
    for (const size_t i : {1u, 2u, 3u, 6u, 7u}) {
      const std::optional<uint64_t> value = ReadWhole(words[i]);
      if (!value.has_value()) return FileFault("/proc/stat", line);
      ticks.used += *value;
    }
    const std::optional<uint64_t> stolen = ReadWhole(words[8]);
    if (!stolen.has_value()) return FileFault("/proc/stat", line);
    ticks.stolen += *stolen;
  }
  if (ticks.cpus == 0 || (!cpus.empty() && ticks.cpus != cpus.size())) {
    return absl::InvalidArgumentError(
        fmt::format("/proc/stat: has {} of the {} CPUs that are watched", ticks.cpus, cpus.size()));
  }
  return ticks;
}

absl::StatusOr<Pressure> ParsePressure(std::string_view text) {
  const absl::StatusOr<std::vector<std::string_view>> lines = WholeLines(text, "pressure");
  if (!lines.ok()) return lines.status();
  for (const std::string_view line : *lines) {
    const std::vector<std::string_view> words = SplitWords(line);
    if (words.size() != 5 || words[0] != "some") continue;
    const std::optional<std::string_view> avg10 = ValueOf(words[1], "avg10");
    const std::optional<std::string_view> total = ValueOf(words[4], "total");
    if (!avg10.has_value() || !total.has_value()) break;
    const std::optional<double> percent = ReadDecimal(*avg10);
    const std::optional<uint64_t> microseconds = ReadWhole(*total);
    if (!percent.has_value() || !microseconds.has_value()) break;
    return Pressure{*percent, *microseconds};
  }
  return FileFault("pressure", text);
}

absl::StatusOr<ProcessStat> ParseProcessStat(std::string_view text) {
  // pid (comm) state ppid ...: comm may hold blanks and parentheses.
  const size_t open = text.find(" (");
  const size_t close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return FileFault("/proc/PID/stat", text);
  }
  const std::optional<uint64_t> pid = ReadWhole(text.substr(0, open));
  std::string_view rest = text.substr(close + 2);
  if (rest.ends_with('\n')) rest.remove_suffix(1);
  const std::vector<std::string_view> words = SplitWords(rest);
  // Fields of proc(5) from 3 (state) on: 4 ppid, 14 utime, 15 stime, 16 cutime, 17 cstime, 22 starttime.
  if (!pid.has_value() || words.size() < 20 || words[0].size() != 1) return FileFault("/proc/PID/stat", text);
  std::optional<uint64_t> numbers[6];
  constexpr size_t kFields[6] = {4, 14, 15, 16, 17, 22};
  for (size_t i = 0; i < 6; ++i) {
    numbers[i] = ReadWhole(words[kFields[i] - 3]);
    if (!numbers[i].has_value()) return FileFault("/proc/PID/stat", text);
  }
  return ProcessStat{*pid, *numbers[0], words[0][0], *numbers[1] + *numbers[2], *numbers[3] + *numbers[4], *numbers[5]};
}

absl::StatusOr<std::set<uint32_t>> ParseCpuList(std::string_view text) {
  std::set<uint32_t> cpus;
  if (TrimBlanks(text).empty()) return cpus;
  for (const std::string_view range : SplitCells(text, ',')) {
    const size_t dash = range.find('-');
    const std::optional<uint32_t> first = ReadWhole32(range.substr(0, dash));
    const std::optional<uint32_t> last = dash == std::string_view::npos ? first : ReadWhole32(range.substr(dash + 1));
    if (!first.has_value() || !last.has_value() || *last < *first || *last >= kMostCpus) {
      return absl::InvalidArgumentError(fmt::format("'{}' is no list of CPUs like 0-3,8", PrintableName(text)));
    }
    for (uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

}  // namespace pyptox::agent
