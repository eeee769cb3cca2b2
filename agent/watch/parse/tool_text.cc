#include "agent/watch/parse/tool_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/utf8.h"

namespace pyptox::agent {
namespace {

constexpr size_t kMaxNameBytes = 255;
// A double holds 15 digits exactly; with a point and some leading zeros no tool writes more.
constexpr size_t kMaxDecimalBytes = 18;
constexpr std::string_view kBlanks = " \t\r";

}  // namespace

std::string_view TrimBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

absl::StatusOr<std::vector<std::string_view>> WholeLines(std::string_view text, std::string_view name) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return absl::InvalidArgumentError(
          fmt::format("{} line {}: has no end, the output is cut", name, lines.size() + 1));
    }
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<std::string_view> SplitCells(std::string_view text, char separator) {
  std::vector<std::string_view> cells;
  while (true) {
    const size_t end = text.find(separator);
    cells.push_back(TrimBlanks(text.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = TrimBlanks(text)).empty()) {
    const size_t end = std::min(text.find_first_of(kBlanks), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

std::optional<uint64_t> ReadWhole(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint64_t> ReadMebibytes(std::string_view text) {
  const std::optional<uint64_t> value = ReadWhole(text);
  return value.has_value() && *value <= uint64_t{1} << 40 ? value : std::nullopt;
}

std::optional<uint32_t> ReadWhole32(std::string_view text) {
  const std::optional<uint64_t> value = ReadWhole(text);
  if (!value.has_value() || *value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

std::optional<double> ReadDecimal(std::string_view text) {
  if (text.empty() || text.size() > kMaxDecimalBytes) return std::nullopt;
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  if (text.front() == '.' || text.back() == '.') return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string PrintableName(std::string_view text) {
  std::string name;
  while (!text.empty()) {
    const size_t good = ValidUtf8Prefix(text);
    for (const char c : text.substr(0, good)) {
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) name.push_back(c);
    }
    text.remove_prefix(std::min(good + 1, text.size()));
    if (name.size() > kMaxNameBytes) {
      name.resize(ValidUtf8Prefix(std::string_view(name).substr(0, kMaxNameBytes)));
      break;
    }
  }
  return name;
}

std::string FirstLineOf(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string line = PrintableName(TrimBlanks(text.substr(0, end)));
    if (!line.empty()) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "";
}

absl::Status ToolLineFault(std::string_view tool, std::string_view line) {
  return absl::InvalidArgumentError(fmt::format("{}: {}", tool, PrintableName(TrimBlanks(line))));
}

}  // namespace pyptox::agent
