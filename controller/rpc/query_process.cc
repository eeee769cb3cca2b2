#include "controller/rpc/query_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_io.h"
#include "base/unique_fd.h"

namespace pyptox::controller {
namespace {

constexpr size_t kMaxErrorBytes = 4096;

// A pipe whose end for us does not block. Both ends close on exec; the child gets copies.
struct Pipe {
  UniqueFd ours;
  UniqueFd theirs;
};

absl::StatusOr<Pipe> MakePipe(bool we_write) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe2");
  Pipe pipe{UniqueFd(fds[we_write ? 1 : 0]), UniqueFd(fds[we_write ? 0 : 1])};
  if (fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK) != 0) return ErrnoStatus(errno, "fcntl O_NONBLOCK");
  return pipe;
}

// The worker with our ends of its standard streams. Killed and reaped at the latest by the destructor.
class Worker {
 public:
  Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Reap();
    }
  }

  absl::Status Start(const std::vector<std::string>& argv);
  // Waits for the end. Wait status as waitpid gives it.
  int Reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  UniqueFd in, out, err;

 private:
  pid_t pid_ = -1;
};

absl::Status Worker::Start(const std::vector<std::string>& argv) {
  auto in_pipe = MakePipe(true);
  auto out_pipe = MakePipe(false);
  auto err_pipe = MakePipe(false);
  for (const auto* pipe : {&in_pipe, &out_pipe, &err_pipe}) {
    if (!pipe->ok()) return pipe->status();
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in_pipe->theirs.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out_pipe->theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err_pipe->theirs.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  char* environment[] = {nullptr};
  const int error = posix_spawn(&pid_, arguments[0], &actions, &attributes, arguments.data(), environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    return ErrnoStatus(error, absl::StrCat("starting ", argv[0]));
  }
  in = std::move(in_pipe->ours);
  out = std::move(out_pipe->ours);
  err = std::move(err_pipe->ours);
  return absl::OkStatus();
}

// Moves bytes from a readable descriptor to `to`, which holds at most `limit`; closes it at the end.
void Drain(UniqueFd& from, std::string& to, size_t limit) {
  char buffer[64 * 1024];
  const ssize_t n = read(from.get(), buffer, sizeof(buffer));
  if (n > 0) {
    to.append(buffer, std::min<size_t>(n, limit - to.size()));
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    from.Reset();
  }
}

// Moves what fits from `data` into a writable descriptor; closes it at the end. A worker that does not read is fine.
void Feed(UniqueFd& to, std::string_view& data) {
  const ssize_t n = write(to.get(), data.data(), data.size());
  if (n > 0) data.remove_prefix(n);
  if (data.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) to.Reset();
}

// Talks to the worker until it has closed its outputs.
absl::Status Talk(Worker& worker, const QueryProcess& process, std::string_view sql, std::string& out,
                  std::string& err) {
  const MonoTime deadline = ReadClocks().mono + process.time_limit;
  if (sql.empty()) worker.in.Reset();
  while (worker.out.valid() || worker.err.valid()) {
    const int64_t left_ms = (deadline - ReadClocks().mono).ns / 1'000'000;
    if (left_ms <= 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the query ran longer than ", process.time_limit.ns / 1'000'000, " ms"));
    }
    pollfd fds[] = {{worker.in.get(), POLLOUT, 0}, {worker.out.get(), POLLIN, 0}, {worker.err.get(), POLLIN, 0}};
    if (poll(fds, 3, static_cast<int>(left_ms)) < 0 && errno != EINTR) return ErrnoStatus(errno, "poll");
    if (fds[0].revents != 0) Feed(worker.in, sql);
    if (fds[1].revents != 0) Drain(worker.out, out, process.max_output_bytes + 1);
    if (fds[2].revents != 0) Drain(worker.err, err, kMaxErrorBytes);
    if (out.size() > process.max_output_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the query's answer is larger than ", process.max_output_bytes, " bytes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RunQueryProcess(const QueryProcess& process, const std::string& sql) {
  Worker worker;
  if (auto status = worker.Start(process.argv); !status.ok()) return status;
  std::string out, err;
  if (auto status = Talk(worker, process, sql, out, err); !status.ok()) return status;
  const int status = worker.Reap();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return out;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 65) return absl::InvalidArgumentError(err);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 69) return absl::ResourceExhaustedError(err);
  if (WIFSIGNALED(status)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the query passed a limit: its process ended by signal ", WTERMSIG(status)));
  }
  return absl::InternalError(absl::StrCat("the query's process ended with status ", status, ": ", err));
}

}  // namespace pyptox::controller
