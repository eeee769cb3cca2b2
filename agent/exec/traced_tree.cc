#include "agent/exec/traced_tree.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "agent/exec/child_start.h"
#include "agent/exec/moved_file.h"
#include "agent/exec/opened_files.h"
#include "agent/exec/seccomp_filter.h"
#include "base/file_io.h"

namespace pyptox::agent {
namespace {

constexpr int kWaitFlags = __WALL | __WNOTHREAD;
constexpr uintptr_t kOptions = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE |
                               PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
constexpr int kSyscallStop = SIGTRAP | 0x80;

// Thread group of a thread, 0 when it is gone.
pid_t ProcessOf(pid_t tid) {
  std::ifstream status(fmt::format("/proc/{}/status", tid));
  std::string word;
  pid_t group = 0;
  while (status >> word) {
    if (word == "Tgid:" && status >> group) return group;
  }
  return 0;
}

bool IsGroupStop(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

// open(2) flags of the call that a thread is about to make, O_PATH for one that opens nothing to read.
uint64_t OpenFlags(pid_t tid, const __ptrace_syscall_info& info) {
  switch (info.seccomp.nr) {
#ifdef __NR_open
    case __NR_open:
      return static_cast<uint32_t>(info.seccomp.args[1]);
    case __NR_creat:
      return O_CREAT | O_WRONLY | O_TRUNC;
#endif
    case __NR_openat:
    case __NR_open_by_handle_at:
      return static_cast<uint32_t>(info.seccomp.args[2]);
    case __NR_openat2: {
      uint64_t flags = 0;
      const iovec local{&flags, sizeof flags};
      const iovec remote{reinterpret_cast<void*>(info.seccomp.args[2]), sizeof flags};  // open_how starts with it
      return process_vm_readv(tid, &local, 1, &remote, 1, 0) == sizeof flags ? flags : O_PATH;
    }
    default:
      return O_PATH;
  }
}

bool OpensNoFile(uint64_t flags) { return (flags & O_PATH) != 0 || (flags & O_TMPFILE) == O_DIRECTORY; }

}  // namespace

// What the caller's thread and the tracing thread share.
struct TracedTree::Shared {
  Shared() : wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!wake.valid()) std::abort();
  }
  void Wake() const {
    const uint64_t one = 1;
    if (write(wake.get(), &one, sizeof one) != sizeof one) std::abort();
  }
  // Under the mutex: no process in `live` is reaped meanwhile, so its id is its own.
  void SignalAll(int signal) {
    for (const pid_t pid : live) kill(pid, signal);
  }

  const UniqueFd wake;
  std::mutex mutex;
  State state;
  // Processes that are not reaped yet, by id.
  std::set<pid_t> live;
  bool terminating = false;
  bool killing = false;
  ProcessOutcome seen;
};

// Lives on the tracing thread: ptrace obeys only the thread that attached.
class TracedTree::Tracer {
 public:
  Tracer(std::shared_ptr<Shared> shared, ChildPlan plan, FileDigests* digests)
      : shared_(std::move(shared)), plan_(std::move(plan)), files_(digests) {}

  void Run() {
    if (Launch()) Loop();
    std::lock_guard lock(shared_->mutex);
    shared_->seen.opened = files_.Take();
    shared_->seen.unresolved = files_.unresolved();
    shared_->state.empty = true;
    shared_->Wake();
  }

 private:
  bool Launch();
  void Loop();
  void Register(pid_t tid);
  void OnEnd(pid_t tid, int status, const rusage& usage);
  void OnStop(pid_t tid, int status);
  void OnOpen(pid_t tid);
  void OnOpened(pid_t tid);
  void Resume(pid_t tid, __ptrace_request how, int signal) {
    // ESRCH: it was killed meanwhile; its end will be reported.
    ptrace(how, tid, nullptr, reinterpret_cast<void*>(static_cast<intptr_t>(signal)));
  }

  const std::shared_ptr<Shared> shared_;
  ChildPlan plan_;
  OpenedFiles files_;
  pid_t main_ = -1;
  // Threads that had their first stop.
  std::set<pid_t> known_;
  // Flags of the open call that a thread is in.
  std::map<pid_t, uint64_t> opening_;
};

bool TracedTree::Tracer::Launch() {
  main_ = plan_.Fork();
  const int fork_error = errno;
  plan_.CloseChildEnds();
  absl::Status error;
  if (main_ < 0) {
    error = ErrnoStatus(fork_error, "fork");
  } else if (ptrace(PTRACE_SEIZE, main_, nullptr, reinterpret_cast<void*>(kOptions)) != 0) {
    error = ErrnoStatus(errno, "PTRACE_SEIZE");
    kill(main_, SIGKILL);
    waitpid(main_, nullptr, kWaitFlags);
  }
  std::lock_guard lock(shared_->mutex);
  shared_->state.error = error;
  if (!error.ok()) return false;
  known_.insert(main_);
  shared_->live.insert(main_);
  if (shared_->terminating) shared_->SignalAll(SIGTERM);
  if (shared_->killing) shared_->SignalAll(SIGKILL);
  plan_.Go();
  return true;
}

void TracedTree::Tracer::Loop() {
  while (true) {
    // Looks first and reaps under the mutex, so that nobody signals an id that is free again.
    siginfo_t next{};
    if (waitid(P_ALL, 0, &next, WEXITED | WSTOPPED | WNOWAIT | kWaitFlags) != 0) {
      if (errno == EINTR) continue;
      return;  // ECHILD: the tree is empty
    }
    int status = 0;
    rusage usage{};
    {
      std::lock_guard lock(shared_->mutex);
      if (wait4(next.si_pid, &status, WNOHANG | kWaitFlags, &usage) != next.si_pid) continue;
      if (!WIFSTOPPED(status)) {
        OnEnd(next.si_pid, status, usage);
        continue;
      }
    }
    OnStop(next.si_pid, status);
  }
}

// With the mutex held.
void TracedTree::Tracer::OnEnd(pid_t tid, int status, const rusage& usage) {
  known_.erase(tid);
  opening_.erase(tid);
  shared_->seen.max_rss_kib = std::max(shared_->seen.max_rss_kib, static_cast<uint64_t>(usage.ru_maxrss));
  const bool process = shared_->live.erase(tid) > 0;
  if (tid == main_) {
    shared_->state.main_status = status;
    shared_->Wake();
  } else if (process && shared_->killing && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    ++shared_->seen.leftover;
  }
}

// Every thread of the tree stops once before it runs; that is when it becomes known. Its parent's fork event is not
// used: by the time that is read the child may be gone and its id taken.
void TracedTree::Tracer::Register(pid_t tid) {
  if (!known_.insert(tid).second || ProcessOf(tid) != tid) return;
  std::lock_guard lock(shared_->mutex);
  shared_->live.insert(tid);
  if (shared_->killing) kill(tid, SIGKILL);
}

void TracedTree::Tracer::OnStop(pid_t tid, int status) {
  Register(tid);
  const int signal = WSTOPSIG(status);
  switch (status >> 16) {
    case 0:
      if (signal == kSyscallStop) {
        OnOpened(tid);
        Resume(tid, PTRACE_CONT, 0);
      } else {
        Resume(tid, PTRACE_CONT, signal);
      }
      return;
    case PTRACE_EVENT_STOP:
      // A group stop stays one until SIGCONT; the other kind is the first stop of a new thread.
      Resume(tid, IsGroupStop(signal) ? PTRACE_LISTEN : PTRACE_CONT, 0);
      return;
    case PTRACE_EVENT_SECCOMP:
      OnOpen(tid);
      return;
    case PTRACE_EVENT_EXEC: {
      unsigned long former = 0;
      if (ptrace(PTRACE_GETEVENTMSG, tid, nullptr, &former) == 0 && static_cast<pid_t>(former) != tid) {
        // A thread that was not the leader executed: it goes on under the leader's id.
        known_.erase(static_cast<pid_t>(former));
        opening_.erase(static_cast<pid_t>(former));
      }
      files_.Executed(tid);
      Resume(tid, PTRACE_CONT, 0);
      return;
    }
    default:
      Resume(tid, PTRACE_CONT, 0);
  }
}

void TracedTree::Tracer::OnOpen(pid_t tid) {
  __ptrace_syscall_info info{};
  const bool known =
      ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_SECCOMP;
  const bool native = known && info.arch == kNativeArch;
  // A 32-bit program's arguments are not read: that it opened something is told all the same.
  if (known && !native) files_.Unknown();
  if (native && MovesAFile(info.seccomp.nr)) {
    for (const UniqueFd& file : FilesToMove(tid, info.seccomp.nr, info.seccomp.args)) files_.Moved(file.get());
  }
  const uint64_t flags = native ? OpenFlags(tid, info) : O_PATH;
  if (OpensNoFile(flags)) {
    Resume(tid, PTRACE_CONT, 0);
    return;
  }
  opening_[tid] = flags;
  Resume(tid, PTRACE_SYSCALL, 0);  // stops next at the call's end
}

void TracedTree::Tracer::OnOpened(pid_t tid) {
  const auto at = opening_.find(tid);
  if (at == opening_.end()) return;
  const uint64_t flags = at->second;
  opening_.erase(at);
  __ptrace_syscall_info info{};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_EXIT) return;
  if (info.exit.is_error == 0) files_.Opened(tid, static_cast<int>(info.exit.rval), flags);
}

absl::StatusOr<std::unique_ptr<ProcessTree>> TracedTree::Start(const ProcessSpec& spec, int output,
                                                               FileDigests* digests) {
  absl::StatusOr<ChildPlan> plan = ChildPlan::Make(spec, output, true);
  if (!plan.ok()) return plan.status();
  std::unique_ptr<TracedTree> tree(new TracedTree);
  tree->shared_ = std::make_shared<Shared>();
  tree->error_ = plan->TakeErrorPipe();
  tree->thread_ = std::thread([shared = tree->shared_, plan = *std::move(plan), digests]() mutable {
    Tracer(std::move(shared), std::move(plan), digests).Run();
  });
  return tree;
}

TracedTree::~TracedTree() {
  Kill();
  if (Poll().empty) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

int TracedTree::wake_fd() const { return shared_->wake.get(); }

ProcessTree::State TracedTree::Poll() {
  std::lock_guard lock(shared_->mutex);
  uint64_t count = 0;
  if (read(shared_->wake.get(), &count, sizeof count) < 0 && errno != EAGAIN) std::abort();
  return shared_->state;
}

void TracedTree::Terminate() {
  std::lock_guard lock(shared_->mutex);
  shared_->terminating = true;
  shared_->SignalAll(SIGTERM);
  shared_->SignalAll(SIGCONT);
}

void TracedTree::Kill() {
  std::lock_guard lock(shared_->mutex);
  shared_->killing = true;
  shared_->SignalAll(SIGKILL);
}

void TracedTree::Describe(ProcessOutcome* outcome) {
  std::lock_guard lock(shared_->mutex);
  outcome->max_rss_kib = shared_->seen.max_rss_kib;
  outcome->leftover = shared_->seen.leftover;
  outcome->opened = std::move(shared_->seen.opened);
  outcome->unresolved = shared_->seen.unresolved;
  outcome->observed = true;
}

}  // namespace pyptox::agent
