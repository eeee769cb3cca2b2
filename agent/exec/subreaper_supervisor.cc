#include "agent/exec/subreaper_supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace pyptox::agent {
namespace {

// While it kills, it looks again this often, milliseconds: an orphan becomes a child without a signal.
constexpr int kKillPollMs = 10;
// Where the supervisor keeps its descriptors; all that it is given are above these.
constexpr int kControlFd = 3;
constexpr int kReportFd = 4;
constexpr int kSignalsFd = 5;

class Supervisor {
 public:
  explicit Supervisor(const SupervisorPlan& plan) : plan_(plan) {}
  [[noreturn]] void Run();

 private:
  void Reap();
  void SignalChildren(int signal);
  // The first process is the leader of a group of its own; once it is reaped the group's id may be another's.
  void SignalGroup(int signal) const {
    if (!main_ended_ && kill(-main_, signal) != 0) kill(main_, signal);  // it may not have made its group yet
  }
  void Obey();
  void Report(SupervisorReport::Kind kind, int status) {
    const SupervisorReport report{kind, status, killed_, max_rss_kib_};
    // The agent may be gone; then nobody needs it.
    if (write(kReportFd, &report, sizeof report) < 0) return;
  }

  const SupervisorPlan& plan_;
  pid_t main_ = -1;
  bool main_ended_ = false;
  bool killing_ = false;
  bool control_open_ = true;
  uint32_t killed_ = 0;
  uint64_t max_rss_kib_ = 0;
};

void Supervisor::Run() {
  setsid();
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  sigset_t child_signal;
  sigemptyset(&child_signal);
  sigaddset(&child_signal, SIGCHLD);
  signal(SIGCHLD, SIG_DFL);
  const int low = signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
  const int signals = fcntl(low, F_DUPFD_CLOEXEC, kFirstPrivateFd);
  main_ = plan_.child->Fork();
  if (main_ < 0 || signals < 0 || dup2(plan_.control, kControlFd) < 0 || dup2(plan_.report, kReportFd) < 0 ||
      dup2(signals, kSignalsFd) < 0) {
    _exit(kChildCouldNotStart);
  }
  // Nothing of the agent's stays open here, nor the tree's output, whose end must be seen.
  for (const int standard : {0, 1, 2}) close(standard);
  CloseFrom(kSignalsFd + 1);
  while (true) {
    Reap();
    if (killing_ || main_ended_) SignalChildren(SIGKILL);
    pollfd waits[2] = {{kSignalsFd, POLLIN, 0}, {control_open_ ? kControlFd : -1, POLLIN, 0}};
    if (poll(waits, 2, killing_ || main_ended_ ? kKillPollMs : -1) < 0) continue;
    signalfd_siginfo drained;
    while (read(kSignalsFd, &drained, sizeof drained) > 0) {
    }
    if (waits[1].revents != 0) Obey();
  }
}

void Supervisor::Reap() {
  int status = 0;
  rusage usage{};
  pid_t pid = 0;
  while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0) {
    if (static_cast<uint64_t>(usage.ru_maxrss) > max_rss_kib_) max_rss_kib_ = static_cast<uint64_t>(usage.ru_maxrss);
    if (pid == main_) {
      main_ended_ = true;
      Report(SupervisorReport::kMainEnded, status);
    } else if (main_ended_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
      ++killed_;
    }
  }
  if (pid < 0 && errno == ECHILD) {
    Report(SupervisorReport::kEmpty, 0);
    _exit(0);
  }
}

// The children of this process by the kernel's list (CONFIG_PROC_CHILDREN); without it, the first process's group.
void Supervisor::SignalChildren(int signal) {
  const int list = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) {
    SignalGroup(signal);
    return;
  }
  char buffer[4096];
  pid_t pid = 0;
  ssize_t count = 0;
  while ((count = read(list, buffer, sizeof buffer)) > 0) {
    for (ssize_t i = 0; i < count; ++i) {
      if (buffer[i] >= '0' && buffer[i] <= '9') {
        pid = pid * 10 + (buffer[i] - '0');
      } else if (pid > 0) {
        kill(pid, signal);
        pid = 0;
      }
    }
  }
  close(list);
}

void Supervisor::Obey() {
  char command = 0;
  const ssize_t count = read(kControlFd, &command, 1);
  if (count == 1 && command == kTerminateCommand) {
    SignalGroup(SIGTERM);
    SignalGroup(SIGCONT);
    return;
  }
  if (count == 0) control_open_ = false;
  killing_ = true;
}

}  // namespace

void RunSupervisor(const void* plan) { Supervisor(*static_cast<const SupervisorPlan*>(plan)).Run(); }

}  // namespace pyptox::agent
