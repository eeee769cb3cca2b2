#include "agent/watch/parse/tool_answer.h"

#include <fmt/format.h>

#include "agent/watch/parse/tool_text.h"

namespace pyptox::agent {

absl::Status CheckToolAnswer(const ToolAnswer& answer, std::string_view tool) {
  if (answer.timed_out) return absl::UnavailableError(fmt::format("{} did not answer in time", tool));
  const std::string said = FirstLineOf(answer.text);
  const std::string quote = said.empty() ? "" : fmt::format(": {}", said);
  if (answer.signal != 0)
    return absl::UnavailableError(fmt::format("{} crashed, signal {}{}", tool, answer.signal, quote));
  if (answer.exit_status != 0) {
    return absl::UnavailableError(fmt::format("{} ended with status {}{}", tool, answer.exit_status, quote));
  }
  if (answer.truncated) return absl::UnavailableError(fmt::format("{} wrote more than is read{}", tool, quote));
  return absl::OkStatus();
}

}  // namespace pyptox::agent
