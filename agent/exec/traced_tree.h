// A process tree under ptrace: every process in it is a tracee from its first instruction on, whatever it forks or
// whichever session it makes, and the kernel kills all of them when the tracing thread ends (PTRACE_O_EXITKILL).
#ifndef PYPTOX_AGENT_EXEC_TRACED_TREE_H_
#define PYPTOX_AGENT_EXEC_TRACED_TREE_H_

#include <memory>
#include <thread>

#include "absl/status/statusor.h"
#include "agent/exec/file_digests.h"
#include "agent/exec/process_spec.h"
#include "agent/exec/process_tree.h"
#include "base/unique_fd.h"

namespace pyptox::agent {

class TracedTree : public ProcessTree {
 public:
  // `spec` must outlive the start; `output` becomes the program's standard output and error; `digests` must outlive the
  // tree and its thread.
  static absl::StatusOr<std::unique_ptr<ProcessTree>> Start(const ProcessSpec& spec, int output, FileDigests* digests);
  ~TracedTree() override;

  int wake_fd() const override;
  State Poll() override;
  int error_fd() const override { return error_.get(); }
  void Terminate() override;
  void Kill() override;
  void Describe(ProcessOutcome* outcome) override;

 private:
  struct Shared;
  class Tracer;
  TracedTree() = default;

  // Held by the thread too: it stays alive when a process can't be killed and the tree is given up.
  std::shared_ptr<Shared> shared_;
  UniqueFd error_;
  std::thread thread_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_TRACED_TREE_H_
