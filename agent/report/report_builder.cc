#include "agent/report/report_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace pyptox::agent {
namespace {

// Longest reason that is kept, bytes; a record is not a log.
constexpr size_t kMaxReasonBytes = 1000;

std::string FirstLine(std::string_view text) {
  while (!text.empty() && (text.front() == '\n' || text.front() == '\r' || text.front() == ' ')) text.remove_prefix(1);
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  size_t end = std::min(text.size(), kMaxReasonBytes);
  // Never cut inside a UTF-8 sequence.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

}  // namespace

std::optional<uint64_t> ParseCount(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

absl::Status ReportBuilder::Fault(std::string_view text) const {
  return absl::InvalidArgumentError(fmt::format("{}: {}", name_, text));
}

absl::Status ReportBuilder::AddCase(std::string name, ReportedOutcome outcome, std::string_view reason) {
  if (name.empty()) return Fault("a case has no name");
  if (!seen_.insert(name).second) return Fault(fmt::format("case '{}' appears twice", name));
  report_.cases.push_back({std::move(name), outcome, FirstLine(reason)});
  return absl::OkStatus();
}

void ReportBuilder::AddCounter(std::string_view name, std::string_view value) {
  const std::optional<uint64_t> number = ParseCount(value);
  if (name.empty() || !number.has_value()) return;
  const auto [at, added] = report_.counters.emplace(name, *number);
  if (!added && at->second != *number) report_.ambiguous.emplace(name, *number);
}

}  // namespace pyptox::agent
