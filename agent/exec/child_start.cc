#include "agent/exec/child_start.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "agent/exec/seccomp_filter.h"
#include "base/file_io.h"

namespace pyptox::agent {
namespace {

// Where the child keeps its two pipes until it executes.
constexpr int kGoFd = 3;
constexpr int kErrorFd = 4;

}  // namespace

absl::StatusOr<UniqueFd> MoveUp(UniqueFd fd) {
  UniqueFd moved(fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstPrivateFd));
  if (!moved.valid()) return ErrnoStatus(errno, "F_DUPFD_CLOEXEC");
  return moved;
}

absl::Status MakePipe(UniqueFd* read_end, UniqueFd* write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe2");
  for (const auto& [end, to] : {std::pair(ends[0], read_end), std::pair(ends[1], write_end)}) to->Reset(end);
  for (UniqueFd* end : {read_end, write_end}) {
    absl::StatusOr<UniqueFd> moved = MoveUp(std::move(*end));
    if (!moved.ok()) return moved.status();
    *end = *std::move(moved);
  }
  return absl::OkStatus();
}

void CloseFrom(int first) {
  if (syscall(SYS_close_range, static_cast<unsigned>(first), ~0u, 0u) == 0) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = 1024;
  for (int fd = first; fd < static_cast<int>(limit.rlim_cur); ++fd) close(fd);
}

absl::StatusOr<ChildPlan> ChildPlan::Make(const ProcessSpec& spec, int output, bool filter) {
  ChildPlan plan;
  plan.program_ = spec.program.c_str();
  plan.cwd_ = spec.cwd.c_str();
  for (const std::string& argument : spec.argv) plan.argv_.push_back(const_cast<char*>(argument.c_str()));
  plan.argv_.push_back(nullptr);
  for (const std::string& variable : spec.env) plan.env_.push_back(const_cast<char*>(variable.c_str()));
  plan.env_.push_back(nullptr);
  if (filter) plan.filter_ = TraceFilter();

  plan.output_.Reset(fcntl(output, F_DUPFD_CLOEXEC, kFirstPrivateFd));
  if (!plan.output_.valid()) return ErrnoStatus(errno, "F_DUPFD_CLOEXEC");
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid()) return ErrnoStatus(errno, "/dev/null");
  absl::StatusOr<UniqueFd> moved = MoveUp(std::move(null));
  if (!moved.ok()) return moved.status();
  plan.null_ = *std::move(moved);
  absl::Status status = MakePipe(&plan.go_read_, &plan.go_write_);
  if (status.ok()) status = MakePipe(&plan.error_read_, &plan.error_write_);
  if (!status.ok()) return status;
  return plan;
}

pid_t ForkChild(void (*start)(const void*), const void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
#if defined(__SANITIZE_THREAD__)
  const pid_t pid = fork();  // ThreadSanitizer must see it, or its own locks stay held in the child
#else
  const pid_t pid = _Fork();
#endif
  if (pid == 0) {
    start(argument);
    _exit(kChildCouldNotStart);
  }
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

pid_t ChildPlan::Fork() const {
  return ForkChild([](const void* plan) { static_cast<const ChildPlan*>(plan)->RunChild(); }, this);
}

void ChildPlan::RunChild() const {
  setsid();
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  if (dup2(null_.get(), 0) < 0 || dup2(output_.get(), 1) < 0 || dup2(output_.get(), 2) < 0 ||
      dup2(go_read_.get(), kGoFd) < 0 || dup2(error_write_.get(), kErrorFd) < 0) {
    Fail();
  }
  CloseFrom(kErrorFd + 1);
  fcntl(kErrorFd, F_SETFD, FD_CLOEXEC);
  umask(022);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (chdir(cwd_) != 0) Fail();

  char byte = 0;
  ssize_t count = 0;
  do {
    count = read(kGoFd, &byte, 1);
  } while (count < 0 && errno == EINTR);
  if (count != 1) _exit(kChildCouldNotStart);
  close(kGoFd);
  if (!filter_.empty()) InstallFilter();

  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(program_, argv_.data(), env_.data());
  Fail();
}

void ChildPlan::InstallFilter() const {
  // A filter needs this without CAP_SYS_ADMIN; and no step may gain rights through a set-uid program.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) Fail();
  const sock_fprog program{static_cast<unsigned short>(filter_.size()), const_cast<sock_filter*>(filter_.data())};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) Fail();
}

void ChildPlan::Fail() const {
  const int error = errno;
  if (write(kErrorFd, &error, sizeof error) != sizeof error) _exit(kChildCouldNotStart - 1);
  _exit(kChildCouldNotStart);
}

bool ChildPlan::Go() {
  const char byte = 1;
  const bool written = write(go_write_.get(), &byte, 1) == 1;
  go_write_.Reset();
  return written;
}

void ChildPlan::CloseChildEnds() {
  output_.Reset();
  null_.Reset();
  go_read_.Reset();
  error_write_.Reset();
}

}  // namespace pyptox::agent
