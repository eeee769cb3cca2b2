#include "ctl/suite/source_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "base/unique_fd.h"
#include "matrix/tree_digest.h"

extern char** environ;

namespace pyptox::ctl {
namespace {

// Output of one git command at most: 500 paths of 4096 bytes with their hashes stay below it.
constexpr size_t kMaxOutput = 16 << 20;
// Paths of one git command, so that the argument list stays far below the kernel's limit.
constexpr size_t kPathsPerCall = 500;

struct GitAnswer {
  // Exit status; -1: it did not end by exit.
  int status = -1;
  // Without trailing newlines.
  std::string out;
};

// Variables that would point git at another repository than the folder's, as they are set inside a hook
// (`git rev-parse --local-env-vars`).
bool PointsElsewhere(std::string_view variable) {
  static constexpr std::string_view kNames[] = {
      "GIT_DIR=",        "GIT_WORK_TREE=",        "GIT_COMMON_DIR=",   "GIT_INDEX_FILE=",
      "GIT_NAMESPACE=",  "GIT_OBJECT_DIRECTORY=", "GIT_PREFIX=",       "GIT_IMPLICIT_WORK_TREE=",
      "GIT_GRAFT_FILE=", "GIT_REPLACE_REF_BASE=", "GIT_SHALLOW_FILE=", "GIT_ALTERNATE_OBJECT_DIRECTORIES=",
      "GIT_ATTR_SOURCE="};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](auto name) { return variable.starts_with(name); });
}

enum class Stderr { kDropped, kWithOutput };

// NOT_FOUND when there is no git.
absl::StatusOr<GitAnswer> RunGit(const std::string& folder, const std::vector<std::string>& arguments,
                                 Stderr stderr_to = Stderr::kDropped) {
  std::vector<std::string> argv = {"git", "--literal-pathspecs", "--no-replace-objects", "-C", folder};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& argument : argv) raw.push_back(argument.data());
  raw.push_back(nullptr);
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!PointsElsewhere(*variable)) environment.push_back(*variable);
  }
  environment.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe");
  UniqueFd out(ends[0]);
  UniqueFd theirs(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDOUT_FILENO);
  if (stderr_to == Stderr::kWithOutput) {
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, "git", &actions, nullptr, raw.data(), environment.data());
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

// Takes the text up to `separator`, and that, off the front.
std::string_view Take(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return part;
}

// The last part of a URL's or folder's path; never a user, password or host with a name in front of '@'.
std::string RepositoryName(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  std::string name = path.substr(path.find_last_of("/:@") + 1);
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  return name;
}

struct CommittedFile {
  bool executable = false;
  // Hash of the blob.
  std::string hash;
};

// Files of a commit by name relative to the folder; of `names` those that are in it.
absl::StatusOr<std::map<std::string, CommittedFile>> CommittedFiles(const std::string& folder, const std::string& head,
                                                                    const std::vector<std::string>& names) {
  std::vector<std::string> command = {"ls-tree", "-r", "-z", head, "--"};
  command.insert(command.end(), names.begin(), names.end());
  absl::StatusOr<GitAnswer> answer = RunGit(folder, command);
  if (!answer.ok()) return answer.status();
  std::map<std::string, CommittedFile> files;
  std::string_view rest = answer->out;
  while (answer->status == 0 && !rest.empty()) {
    // MODE TYPE HASH TAB NAME NUL
    std::string_view entry = Take(&rest, '\0');
    const std::string_view mode = Take(&entry, ' ');
    Take(&entry, ' ');
    const std::string_view hash = Take(&entry, '\t');
    if (mode == "100644" || mode == "100755") {
      files[std::string(entry)] = {mode == "100755", std::string(hash)};
    }
  }
  return files;
}

// The first file of a batch that is not as in the commit, as one sentence; empty when all are. `modes` has the files
// whose mode counts.
absl::StatusOr<std::string> DirtyFile(const std::string& folder, const std::string& head,
                                      const std::vector<std::string>& names, const std::map<std::string, bool>& modes) {
  absl::StatusOr<std::map<std::string, CommittedFile>> committed = CommittedFiles(folder, head, names);
  if (!committed.ok()) return committed.status();
  for (const std::string& name : names) {
    if (!committed->contains(name)) return fmt::format("{} is not in HEAD", name);
  }
  std::vector<std::string> command = {"hash-object", "--"};
  command.insert(command.end(), names.begin(), names.end());
  absl::StatusOr<GitAnswer> answer = RunGit(folder, command);
  if (!answer.ok()) return answer.status();
  std::string_view rest = answer->out;
  for (const std::string& name : names) {
    const CommittedFile& then = committed->at(name);
    // No answer is a difference too: a guess in the other direction would be a false claim.
    if (answer->status != 0 || Take(&rest, '\n') != then.hash) return fmt::format("{} differs from HEAD", name);
    const auto mode = modes.find(name);
    if (mode != modes.end() && mode->second != then.executable) {
      return fmt::format("{} has another mode than in HEAD", name);
    }
  }
  return "";
}

absl::StatusOr<std::string> DirtyFile(const std::string& folder, const std::string& head, const v1::Tree& tree,
                                      const std::vector<std::string>& also) {
  std::vector<std::string> names = also;
  std::map<std::string, bool> modes;
  for (const v1::FileEntry& file : tree.files()) {
    names.push_back(file.name());
    modes[file.name()] = file.executable();
  }
  for (size_t first = 0; first < names.size(); first += kPathsPerCall) {
    const std::vector<std::string> batch(
        names.begin() + static_cast<long>(first),
        names.begin() + static_cast<long>(std::min(first + kPathsPerCall, names.size())));
    absl::StatusOr<std::string> dirty = DirtyFile(folder, head, batch, modes);
    if (!dirty.ok() || !dirty->empty()) return dirty;
  }
  return "";
}

}  // namespace

absl::StatusOr<CapturedSource> CaptureSource(const std::string& folder, const v1::Tree& tree,
                                             const std::vector<std::string>& also) {
  CapturedSource source;
  source.state.set_dirty(true);
  source.state.set_tree_sha256(matrix::TreeSha256(tree));
  absl::StatusOr<GitAnswer> top = RunGit(folder, {"rev-parse", "--show-toplevel"}, Stderr::kWithOutput);
  if (absl::IsNotFound(top.status())) {
    source.fault = "git is not installed";
    return source;
  }
  if (!top.ok()) return top.status();
  if (top->status != 0) {
    source.fault = "git finds no repository: " + top->out.substr(0, top->out.find('\n'));
    return source;
  }
  absl::StatusOr<GitAnswer> prefix = RunGit(folder, {"rev-parse", "--show-prefix"});
  absl::StatusOr<GitAnswer> head = RunGit(folder, {"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
  absl::StatusOr<GitAnswer> origin = RunGit(folder, {"config", "--get", "remote.origin.url"});
  for (const absl::Status& status : {prefix.status(), head.status(), origin.status()}) {
    if (!status.ok()) return status;
  }
  source.state.set_repository(RepositoryName(origin->status == 0 ? origin->out : top->out));
  std::string below = prefix->out;
  if (below.ends_with("/")) below.pop_back();
  source.state.set_folder(below);
  if (head->status != 0) {
    source.fault = "the repository has no commit";
    return source;
  }
  source.state.set_head(head->out);
  absl::StatusOr<std::string> dirty = DirtyFile(folder, head->out, tree, also);
  if (!dirty.ok()) return dirty.status();
  source.fault = *dirty;
  source.state.set_dirty(!dirty->empty());
  return source;
}

}  // namespace pyptox::ctl
