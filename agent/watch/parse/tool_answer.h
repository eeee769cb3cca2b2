// What a tool's run gave, and whether its output may be read at all. Pure.
#ifndef PYPTOX_AGENT_WATCH_PARSE_TOOL_ANSWER_H_
#define PYPTOX_AGENT_WATCH_PARSE_TOOL_ANSWER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace pyptox::agent {

// How one run of nvidia-smi or npu-smi ended.
struct ToolAnswer {
  // -1 when it did not end by exit.
  int exit_status = -1;
  // Signal that ended it, 0 for none.
  int signal = 0;
  // It was ended because it took too long.
  bool timed_out = false;
  // It wrote more than it was allowed to; `text` is only the beginning.
  bool truncated = false;
  // Standard output, or both streams merged: nvidia-smi writes its errors to standard output.
  std::string text;
};

// UNAVAILABLE with the reason, the tool's own first line included, unless it ended by itself with 0 and `text` is
// whole. Good lines before a failure are not used: a card that fell off the bus may have come after them.
absl::Status CheckToolAnswer(const ToolAnswer& answer, std::string_view tool);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_PARSE_TOOL_ANSWER_H_
