// A process tree under a supervisor process that adopts every orphan of it (PR_SET_CHILD_SUBREAPER), for hosts where
// ptrace is not permitted. When the supervisor has no child left, no process of the tree is left. It kills the tree
// when the agent goes away (its control pipe closes); opened files are not seen.
#ifndef PYPTOX_AGENT_EXEC_SUBREAPER_TREE_H_
#define PYPTOX_AGENT_EXEC_SUBREAPER_TREE_H_

#include <sys/types.h>

#include <memory>

#include "absl/status/statusor.h"
#include "agent/exec/process_spec.h"
#include "agent/exec/process_tree.h"
#include "base/unique_fd.h"

namespace pyptox::agent {

class SubreaperTree : public ProcessTree {
 public:
  // `spec` must outlive the start; `output` becomes the program's standard output and error.
  static absl::StatusOr<std::unique_ptr<ProcessTree>> Start(const ProcessSpec& spec, int output);
  ~SubreaperTree() override;

  int wake_fd() const override { return report_.get(); }
  State Poll() override;
  int error_fd() const override { return error_.get(); }
  void Terminate() override;
  void Kill() override;
  void Describe(ProcessOutcome* outcome) override;

 private:
  SubreaperTree() = default;
  void Command(char command);

  pid_t supervisor_ = -1;
  UniqueFd control_, report_, error_;
  State state_;
  ProcessOutcome seen_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_SUBREAPER_TREE_H_
