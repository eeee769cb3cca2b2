// How a process tree ended and what it opened.
#ifndef PYPTOX_AGENT_EXEC_PROCESS_OUTCOME_H_
#define PYPTOX_AGENT_EXEC_PROCESS_OUTCOME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/time_types.h"

namespace pyptox::agent {

// A regular file that the tree opened for reading or executed.
struct OpenedInput {
  // As the kernel names it; ends in ` (deleted)` for a file without a name.
  std::string path;
  // SHA-256 of the contents at that moment, empty when they could not be read.
  std::string sha256;
  uint64_t size = 0;
  // Executed, or mapped by the kernel as its loader.
  bool executed = false;
};

struct ProcessOutcome {
  // Why it ended: by itself, or because it was ended.
  enum class End { kExited, kSignaled, kCancelled, kRunLimit, kSilenceLimit };
  End end = End::kExited;
  // Exit status of the first process, -1 when it did not exit.
  int exit_status = -1;
  // Signal that ended the first process, 0 for none.
  int signal = 0;
  Duration elapsed;
  uint64_t output_bytes = 0;
  // Of the largest process.
  uint64_t max_rss_kib = 0;
  // Processes that were still there when the first one had ended by itself, and were killed.
  uint32_t leftover = 0;
  // True when the kernel said that no process of the tree is left.
  bool tree_empty = false;
  // False when opened files were not seen (TreeMode::kSubreaper).
  bool observed = false;
  // In the order of first sight, each (path, contents, executed) once.
  std::vector<OpenedInput> opened;
  // Opens whose file could not be told any more, or that did not fit the list.
  uint64_t unresolved = 0;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_PROCESS_OUTCOME_H_
