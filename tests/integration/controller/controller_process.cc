#include "tests/integration/controller/controller_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "base/file_io.h"
#include "base/unique_fd.h"
#include "grpc/grpc.h"
#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

// The child dies with this thread, so that a crashed test leaves nothing behind.
pid_t Spawn(const std::vector<std::string>& arguments, int stderr_fd) {
  std::vector<std::string> all = {std::string(getenv("PYPTOX_BIN_DIR")) + "/pyptox-controller"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    if (stderr_fd >= 0) dup2(stderr_fd, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  return pid;
}

int ExitCode(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }

int WaitPid(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The file that says that a controller serves, seen by inotify.
class ReadyFile {
 public:
  explicit ReadyFile(const std::string& data) : path_(data + "/ready"), watch_(inotify_init1(IN_CLOEXEC)) {
    EXPECT_TRUE(MakeFolders(data).ok());
    unlink(path_.c_str());
    EXPECT_GE(inotify_add_watch(watch_.get(), data.c_str(), IN_MOVED_TO), 0);
  }
  const std::string& path() const { return path_; }
  // False when the process ended first.
  bool Wait(pid_t pid) const {
    const UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    while (access(path_.c_str(), R_OK) != 0) {
      pollfd fds[] = {{watch_.get(), POLLIN, 0}, {process.get(), POLLIN, 0}};
      if (poll(fds, 2, 60'000) <= 0 || fds[1].revents != 0) return false;
      char buffer[4096];
      (void)!read(watch_.get(), buffer, sizeof(buffer));
    }
    return true;
  }

 private:
  const std::string path_;
  const UniqueFd watch_;
};

}  // namespace

bool ControllerEndsWithParent(const std::string& data) {
  const ReadyFile ready(data);
  int to_shell[2], from_all[2];
  EXPECT_EQ(pipe2(to_shell, O_CLOEXEC), 0);
  EXPECT_EQ(pipe2(from_all, O_CLOEXEC), 0);
  const std::string program = std::string(getenv("PYPTOX_BIN_DIR")) + "/pyptox-controller";
  const pid_t shell = fork();
  if (shell == 0) {
    dup2(to_shell[0], STDIN_FILENO);
    dup2(from_all[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", "\"$0\" --exit-with-parent --data \"$1\" --ready-file \"$2\" & read line",
          program.c_str(), data.c_str(), ready.path().c_str(), nullptr);
    _exit(127);
  }
  close(to_shell[0]);
  close(from_all[1]);
  const bool served = ready.Wait(shell);
  close(to_shell[1]);
  WaitPid(shell);
  // The controller has the other end of this pipe, until it ends.
  char byte;
  while (read(from_all[0], &byte, 1) > 0) {
  }
  close(from_all[0]);
  return served;
}

ProgramResult RunController(const std::vector<std::string>& arguments) {
  int fds[2];
  EXPECT_EQ(pipe2(fds, O_CLOEXEC), 0);
  const UniqueFd ours(fds[0]);
  UniqueFd theirs(fds[1]);
  const pid_t pid = Spawn(arguments, theirs.get());
  theirs.Reset();
  ProgramResult result;
  char buffer[4096];
  for (ssize_t n; (n = read(ours.get(), buffer, sizeof(buffer))) > 0;) result.err.append(buffer, n);
  result.exit_code = ExitCode(WaitPid(pid));
  return result;
}

ControllerProcess::ControllerProcess(const std::string& data, const std::vector<std::string>& arguments) {
  // Held for the life of the process: when the last object goes, gRPC 1.51 may wait 10 s for a poller of its own.
  static const bool library_stays = (grpc_init(), true);
  (void)library_stays;
  const ReadyFile ready(data);
  std::vector<std::string> all = {"--data", data, "--ready-file", ready.path()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  pid_ = Spawn(all, -1);
  if (!ready.Wait(pid_)) return;
  std::istringstream lines(*ReadFile(ready.path(), 1 << 16));
  for (std::string line; std::getline(lines, line);) addresses_.push_back(line);
}

ControllerProcess::~ControllerProcess() { Kill(); }

std::shared_ptr<grpc::Channel> ControllerProcess::Connect() const {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(addresses_.at(0), grpc::InsecureChannelCredentials(), arguments);
}

void ControllerProcess::Kill() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

int ControllerProcess::Terminate() {
  kill(pid_, SIGTERM);
  return Wait();
}

int ControllerProcess::Wait() {
  const int status = WaitPid(pid_);
  pid_ = -1;
  return ExitCode(status);
}

}  // namespace pyptox::controller
