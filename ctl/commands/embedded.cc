#include "ctl/commands/embedded.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_io.h"
#include "base/time_types.h"

extern char** environ;

namespace pyptox::ctl {
namespace {

constexpr Duration kStartLimit = Seconds(20);
constexpr Duration kStopLimit = Seconds(15);
constexpr int kPollMs = 20;

std::string LastLines(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, 64 << 20);
  if (!text.ok()) return "";
  constexpr size_t kTail = 2000;
  return text->size() > kTail ? text->substr(text->size() - kTail) : *text;
}

// True when the child is gone; reaps it.
bool IsGone(pid_t pid) { return waitpid(pid, nullptr, WNOHANG) == pid; }

}  // namespace

Embedded::~Embedded() {
  // The agent first, so that it ends its attempts while the controller still listens.
  for (auto at = children_.rbegin(); at != children_.rend(); ++at) {
    kill(*at, SIGTERM);
    const MonoTime deadline = ReadClocks().mono + kStopLimit;
    while (!IsGone(*at)) {
      if (ReadClocks().mono > deadline) kill(*at, SIGKILL);
      poll(nullptr, 0, kPollMs);
    }
  }
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
  // A group of its own: Ctrl-C at the terminal is this command's to handle.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0].c_str(), &actions, &attributes, raw.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return ErrnoStatus(error, argv[0]);
  children_.push_back(pid);
  return absl::OkStatus();
}

absl::Status Embedded::Start(Session& session) {
  const std::string data = session.surroundings().data_folder;
  const std::string socket = EmbeddedSocket(data);
  const std::string address = "unix:" + socket;
  session.UseController(address);
  if (Client(address).GetServerInfo().ok()) return absl::OkStatus();

  for (const std::string& folder : {data, data + "/controller", socket.substr(0, socket.rfind('/'))}) {
    if (absl::Status status = MakeFolders(folder); !status.ok()) return status;
  }
  const std::string ready = data + "/controller.ready";
  const std::string log = data + "/controller.log";
  unlink(ready.c_str());
  absl::Status status = Spawn({session.binary_folder() + "/pyptox-controller", "--data", data + "/controller",
                               "--listen", address, "--ready-file", ready, "--exit-with-parent"},
                              log);
  if (!status.ok()) return status;
  const MonoTime deadline = ReadClocks().mono + kStartLimit;
  struct stat info {};
  while (stat(ready.c_str(), &info) != 0) {
    if (IsGone(children_.back())) {
      children_.pop_back();
      return absl::UnavailableError(
          fmt::format("the controller did not start; {} ends with:\n{}", log, LastLines(log)));
    }
    if (ReadClocks().mono > deadline)
      return absl::UnavailableError(fmt::format("the controller is not ready; see {}", log));
    poll(nullptr, 0, kPollMs);
  }
  return Spawn({session.binary_folder() + "/pyptox-agent", "--name", "local", "--controller", address, "--work-root",
                data + "/agent", "--resource", "dev=cpu", "--resource", "qemu=qemu", "--exit-with-parent"},
               data + "/agent.log");
}

}  // namespace pyptox::ctl
