#include "agent/exec/subreaper_tree.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "agent/exec/subreaper_supervisor.h"
#include "base/file_io.h"

namespace pyptox::agent {

absl::StatusOr<std::unique_ptr<ProcessTree>> SubreaperTree::Start(const ProcessSpec& spec, int output) {
  absl::StatusOr<ChildPlan> child = ChildPlan::Make(spec, output, false);
  if (!child.ok()) return child.status();
  std::unique_ptr<SubreaperTree> tree(new SubreaperTree);
  // A socket, because a write to a pipe without a reader would be a SIGPIPE.
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return ErrnoStatus(errno, "socketpair");
  tree->control_.Reset(sockets[0]);
  absl::StatusOr<UniqueFd> control = MoveUp(UniqueFd(sockets[1]));
  if (!control.ok()) return control.status();
  UniqueFd report_write;
  const absl::Status status = MakePipe(&tree->report_, &report_write);
  if (!status.ok()) return status;
  fcntl(tree->report_.get(), F_SETFL, O_NONBLOCK);
  const SupervisorPlan plan{&*child, control->get(), report_write.get()};
  tree->supervisor_ = ForkChild(RunSupervisor, &plan);
  if (tree->supervisor_ < 0) return ErrnoStatus(errno, "fork");
  child->CloseChildEnds();
  child->Go();
  tree->error_ = child->TakeErrorPipe();
  return tree;
}

SubreaperTree::~SubreaperTree() {
  control_.Reset();
  if (state_.empty) waitpid(supervisor_, nullptr, 0);
}

void SubreaperTree::Command(char command) {
  if (state_.empty) return;
  // The supervisor may just have ended, and then the tree is empty.
  if (send(control_.get(), &command, 1, MSG_NOSIGNAL) < 0) return;
}

ProcessTree::State SubreaperTree::Poll() {
  SupervisorReport report;
  while (!state_.empty) {
    const ssize_t count = read(report_.get(), &report, sizeof report);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    if (count != sizeof report) {
      // It died before it could say that the tree is empty.
      state_.empty = true;
      state_.proved = false;
      break;
    }
    seen_.max_rss_kib = report.max_rss_kib;
    seen_.leftover = report.killed;
    if (report.kind == SupervisorReport::kMainEnded) state_.main_status = report.status;
    if (report.kind == SupervisorReport::kEmpty) state_.empty = true;
  }
  return state_;
}

void SubreaperTree::Terminate() { Command(kTerminateCommand); }

void SubreaperTree::Kill() { Command(kKillCommand); }

void SubreaperTree::Describe(ProcessOutcome* outcome) {
  outcome->max_rss_kib = seen_.max_rss_kib;
  outcome->leftover = seen_.leftover;
  outcome->observed = false;
}

}  // namespace pyptox::agent
