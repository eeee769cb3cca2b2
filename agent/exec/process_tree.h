// A program and all its descendants, held so that none can be lost. Two implementations: traced_tree, subreaper_tree.
#ifndef PYPTOX_AGENT_EXEC_PROCESS_TREE_H_
#define PYPTOX_AGENT_EXEC_PROCESS_TREE_H_

#include <sys/resource.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "agent/exec/process_outcome.h"

namespace pyptox::agent {

class ProcessTree {
 public:
  struct State {
    // Wait status (wait(2)) of the first process, once it ended.
    std::optional<int> main_status;
    // No process is left and no file list will change any more.
    bool empty = false;
    // Whether the kernel vouches for that.
    bool proved = true;
    // The harness could not start or hold the tree.
    absl::Status error;
  };

  // Ends the tree.
  virtual ~ProcessTree() = default;

  // Readable after every change of State.
  virtual int wake_fd() const = 0;
  // Also makes wake_fd unreadable.
  virtual State Poll() = 0;
  // Readable with an errno when the program could not be executed, end of file when it was. -1 when not yet known.
  virtual int error_fd() const = 0;
  // Asks every process to end. No effect on an empty tree.
  virtual void Terminate() = 0;
  // Kills every process, and each that is born from now on.
  virtual void Kill() = 0;
  // Fills in what the tree knows: max_rss_kib, leftover, observed, opened, unresolved. Call it when empty.
  virtual void Describe(ProcessOutcome* outcome) = 0;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_PROCESS_TREE_H_
