// Starts a program in a child of a multithreaded process: everything is prepared before the fork, and the child makes
// async-signal-safe calls only.
#ifndef PYPTOX_AGENT_EXEC_CHILD_START_H_
#define PYPTOX_AGENT_EXEC_CHILD_START_H_

#include <linux/filter.h>
#include <sys/types.h>

#include <vector>

#include "absl/status/statusor.h"
#include "agent/exec/process_spec.h"
#include "base/unique_fd.h"

namespace pyptox::agent {

// The exit status of a child that could not start its program; the errno went through the error pipe.
inline constexpr int kChildCouldNotStart = 127;

// Everything a child needs, as plain pointers into the spec, which must outlive it.
class ChildPlan {
 public:
  // `output` becomes standard output and error. The child waits for the `go` pipe's first byte before it executes, and
  // exits when that pipe is closed without one. With `filter` it installs TraceFilter.
  static absl::StatusOr<ChildPlan> Make(const ProcessSpec& spec, int output, bool filter);

  // In the parent. Forks without running atfork handlers and with all signals blocked; -1 with errno on failure.
  pid_t Fork() const;
  // In the child, when it was forked by other means. Does not return.
  [[noreturn]] void RunChild() const;

  // In the parent: lets the child execute.
  bool Go();
  // In the parent, after the fork: closes the child's ends.
  void CloseChildEnds();
  // Readable with an errno when the program could not be started; closed when it was.
  UniqueFd TakeErrorPipe() { return std::move(error_read_); }

 private:
  ChildPlan() = default;
  void InstallFilter() const;
  [[noreturn]] void Fail() const;

  const char* program_ = nullptr;
  const char* cwd_ = nullptr;
  std::vector<char*> argv_;
  std::vector<char*> env_;
  std::vector<sock_filter> filter_;
  // Child's ends; all above 9, so that they can be moved to 0..4 without running into each other.
  UniqueFd output_, null_, go_read_, error_write_;
  UniqueFd go_write_, error_read_;
};

// All descriptors that are moved to fixed places in a child stand at or above this.
inline constexpr int kFirstPrivateFd = 10;

// Closes every descriptor from `first` on. Async-signal-safe.
void CloseFrom(int first);

// `fd` (taken) at or above kFirstPrivateFd, closed on exec.
absl::StatusOr<UniqueFd> MoveUp(UniqueFd fd);

// Both ends closed on exec and at or above kFirstPrivateFd.
absl::Status MakePipe(UniqueFd* read_end, UniqueFd* write_end);

// Runs `start` in a forked child with all signals blocked, without atfork handlers. Returns the child's id, -1 with
// errno.
pid_t ForkChild(void (*start)(const void*), const void* argument);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_CHILD_START_H_
