#include "ctl/commands/embedded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file_io.h"
#include "base/time_types.h"

extern char** environ;

namespace pyptox::ctl {
namespace {

constexpr Duration kStartLimit = Seconds(20);
constexpr Duration kStopLimit = Seconds(15);
constexpr int kPollMs = 20;

// Where the children hold the folder's lock. They close it with everything else of theirs, when the last one is gone.
constexpr int kLockFd = 3;

std::string LastLines(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string tail(2000, '\0');
  const off_t size = fd.valid() ? lseek(fd.get(), 0, SEEK_END) : 0;
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(tail.size()));
  const ssize_t n = fd.valid() ? pread(fd.get(), tail.data(), tail.size(), from) : 0;
  tail.resize(n < 0 ? 0 : static_cast<size_t>(n));
  while (tail.ends_with('\n')) tail.pop_back();
  return tail;
}

// True when the child is gone; reaps it.
bool IsGone(pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == pid; }

}  // namespace

Embedded::~Embedded() {
  // The agent first, so that it ends its attempts while the controller still listens.
  for (auto at = children_.rbegin(); at != children_.rend(); ++at) {
    kill(at->pid, SIGTERM);
    const MonoTime deadline = ReadClocks().mono + kStopLimit;
    while (!IsGone(at->pid)) {
      if (ReadClocks().mono > deadline) kill(at->pid, SIGKILL);
      poll(nullptr, 0, kPollMs);
    }
  }
}

absl::Status Embedded::Alive() {
  for (auto at = children_.begin(); at != children_.end(); ++at) {
    if (!IsGone(at->pid)) continue;
    const std::string log = at->log;
    children_.erase(at);
    return absl::UnavailableError(
        fmt::format("a part of this command has ended; {} ends with:\n{}", log, LastLines(log)));
  }
  return absl::OkStatus();
}

absl::Status Embedded::Lock(const Session& session) {
  const std::string path = session.surroundings().data_folder + "/run.lock";
  lock_.Reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_.valid()) return ErrnoStatus(errno, path);
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
  if (errno != EWOULDBLOCK) return ErrnoStatus(errno, path);
  session.Note(fmt::format("waiting for another `pyptox-ctl run` in {}", session.surroundings().data_folder));
  while (flock(lock_.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return ErrnoStatus(errno, path);
  }
  return absl::OkStatus();
}

absl::Status Embedded::Spawn(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<std::string> copy = argv;
  std::vector<char*> raw;
  for (std::string& argument : copy) raw.push_back(argument.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, lock_.get(), kLockFd);
  // A group of its own: Ctrl-C at the terminal is this command's to handle.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0].c_str(), &actions, &attributes, raw.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoStatus(error, argv[0]);
  children_.push_back({pid, log});
  return absl::OkStatus();
}

absl::Status Embedded::StartController(const Session& session, const std::string& address) {
  const std::string& data = session.surroundings().data_folder;
  const std::string ready = data + "/controller.ready";
  unlink(ready.c_str());
  absl::Status status = Spawn({session.binary_folder() + "/pyptox-controller", "--data", data + "/controller",
                               "--listen", address, "--ready-file", ready, "--exit-with-parent"},
                              data + "/controller.log");
  const MonoTime deadline = ReadClocks().mono + kStartLimit;
  struct stat info {};
  while (status.ok() && stat(ready.c_str(), &info) != 0) {
    poll(nullptr, 0, kPollMs);
    status = Alive();
    if (status.ok() && ReadClocks().mono > deadline) {
      status = absl::UnavailableError(fmt::format("the controller is not ready; see {}", children_.back().log));
    }
  }
  return status;
}

absl::Status Embedded::Start(Session& session) {
  const std::string& data = session.surroundings().data_folder;
  absl::StatusOr<std::string> socket = EmbeddedSocket(session.surroundings());
  if (!socket.ok()) return socket.status();
  for (const std::string& folder : {data, data + "/controller", socket->substr(0, socket->rfind('/'))}) {
    if (absl::Status status = MakeFolders(folder); !status.ok()) return status;
  }
  if (absl::Status status = Lock(session); !status.ok()) return status;
  const std::string address = "unix:" + *socket;
  session.UseController(address);
  if (Client(address).GetServerInfo().ok()) return absl::OkStatus();
  if (absl::Status status = StartController(session, address); !status.ok()) return status;
  return Spawn({session.binary_folder() + "/pyptox-agent", "--name", "local", "--controller", address, "--work-root",
                data + "/agent", "--resource", "dev=cpu", "--resource", "qemu=qemu", "--exit-with-parent"},
               data + "/agent.log");
}

}  // namespace pyptox::ctl
