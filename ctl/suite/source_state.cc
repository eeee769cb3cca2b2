#include "ctl/suite/source_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/file_io.h"
#include "base/unique_fd.h"
#include "matrix/tree_digest.h"

extern char** environ;

namespace pyptox::ctl {
namespace {

// Output of one git command at most; a longer one is an error of ours.
constexpr size_t kMaxOutput = 16 << 20;
// Paths of one git command, so that the argument list stays far below the kernel's limit.
constexpr int kPathsPerCall = 500;

struct GitAnswer {
  int status = -1;
  std::string out;
};

// NOT_FOUND when there is no git.
absl::StatusOr<GitAnswer> RunGit(const std::string& folder, std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"git", "--literal-pathspecs", "-C", folder};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& argument : argv) raw.push_back(argument.data());
  raw.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd out(ends[0]);
  UniqueFd theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, "git", &actions, nullptr, raw.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  theirs.Reset();
  if (error != 0) return ErrnoStatus(error, "git");

  GitAnswer answer;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t n = read(out.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (answer.out.size() < kMaxOutput) answer.out.append(buffer.data(), static_cast<size_t>(n));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  while (!answer.out.empty() && answer.out.back() == '\n') answer.out.pop_back();
  return answer;
}

std::string LastPart(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  std::string name = path.substr(path.find_last_of("/:") + 1);
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  return name;
}

absl::StatusOr<bool> IsDirty(const std::string& folder, const v1::Tree& tree) {
  for (int first = 0; first < tree.files_size(); first += kPathsPerCall) {
    std::vector<std::string> tracked = {"ls-files", "--error-unmatch", "--"};
    std::vector<std::string> differs = {"diff", "--quiet", "--no-ext-diff", "HEAD", "--"};
    for (int i = first; i < std::min(first + kPathsPerCall, tree.files_size()); ++i) {
      tracked.push_back(tree.files(i).name());
      differs.push_back(tree.files(i).name());
    }
    for (const std::vector<std::string>& command : {tracked, differs}) {
      absl::StatusOr<GitAnswer> answer = RunGit(folder, command);
      if (!answer.ok()) return answer.status();
      // Anything but a clear yes is dirty: a guess in the other direction would be a false claim.
      if (answer->status != 0) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<v1::SourceState> CaptureSource(const std::string& folder, const v1::Tree& tree) {
  v1::SourceState state;
  state.set_dirty(true);
  state.set_tree_sha256(matrix::TreeSha256(tree));
  absl::StatusOr<GitAnswer> top = RunGit(folder, {"rev-parse", "--show-toplevel"});
  if (absl::IsNotFound(top.status()) || (top.ok() && top->status != 0)) return state;
  if (!top.ok()) return top.status();
  absl::StatusOr<GitAnswer> prefix = RunGit(folder, {"rev-parse", "--show-prefix"});
  absl::StatusOr<GitAnswer> head = RunGit(folder, {"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
  absl::StatusOr<GitAnswer> origin = RunGit(folder, {"config", "--get", "remote.origin.url"});
  for (const absl::Status& status : {prefix.status(), head.status(), origin.status()}) {
    if (!status.ok()) return status;
  }
  state.set_repository(LastPart(origin->status == 0 ? origin->out : top->out));
  std::string below = prefix->out;
  if (below.ends_with("/")) below.pop_back();
  state.set_folder(below);
  if (head->status != 0) return state;
  state.set_head(head->out);
  absl::StatusOr<bool> dirty = IsDirty(folder, tree);
  if (!dirty.ok()) return dirty.status();
  state.set_dirty(*dirty);
  return state;
}

}  // namespace pyptox::ctl
