#include "agent/watch/process_view.h"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/file_io.h"

namespace pyptox::agent {
namespace {

// PROC_PID_INIT_INO of linux/proc_ns.h: the inode of the namespace that the kernel itself makes.
constexpr std::string_view kFirstNamespace = "pid:[4026531836]";
constexpr uint64_t kMaxReleaseBytes = 4096;

}  // namespace

v1::ProcessView FindProcessView(const std::string& proc) {
  absl::StatusOr<std::string> release = ReadFile(proc + "/sys/kernel/osrelease", kMaxReleaseBytes);
  if (!release.ok()) return v1::PROCESS_VIEW_HIDDEN;
  // 5.15.90.1-microsoft-standard-WSL2; WSL1 writes Microsoft.
  std::transform(release->begin(), release->end(), release->begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  if (release->find("microsoft") != std::string::npos || release->find("wsl") != std::string::npos) {
    return v1::PROCESS_VIEW_HIDDEN;
  }
  char target[PATH_MAX];
  const ssize_t size = readlink((proc + "/self/ns/pid").c_str(), target, sizeof(target));
  if (size < 0 || std::string_view(target, static_cast<size_t>(size)) != kFirstNamespace) {
    return v1::PROCESS_VIEW_HIDDEN;
  }
  return v1::PROCESS_VIEW_WHOLE;
}

}  // namespace pyptox::agent
