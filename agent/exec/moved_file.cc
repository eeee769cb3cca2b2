#include "agent/exec/moved_file.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace pyptox::agent {
namespace {

constexpr size_t kMaxPath = 4096;

// Text up to its NUL in the thread's memory; empty when it can't be read. Never past a page that may be the last one.
std::string ReadText(pid_t tid, uint64_t address) {
  static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::string text;
  while (text.size() < kMaxPath) {
    std::array<char, kMaxPath> piece;
    const uint64_t size = std::min<uint64_t>(piece.size(), page - address % page);
    const iovec local{piece.data(), size};
    const iovec remote{reinterpret_cast<void*>(address), size};
    const ssize_t count = process_vm_readv(tid, &local, 1, &remote, 1, 0);
    if (count <= 0) return "";
    const std::string_view got(piece.data(), static_cast<size_t>(count));
    text += got.substr(0, got.find('\0'));
    if (got.find('\0') != std::string_view::npos) return text;
    address += static_cast<uint64_t>(count);
  }
  return "";
}

// The thread's name for a file as one that the agent can open.
std::string AgentsName(pid_t tid, int folder, const std::string& name) {
  constexpr std::string_view kSelf = "/proc/self/";
  if (name.starts_with(kSelf)) return fmt::format("/proc/{}/{}", tid, name.substr(kSelf.size()));
  if (name.starts_with('/')) return fmt::format("/proc/{}/root{}", tid, name);
  const std::string base = folder == AT_FDCWD ? "cwd" : fmt::format("fd/{}", folder);
  return fmt::format("/proc/{}/{}{}{}", tid, base, name.empty() ? "" : "/", name);
}

}  // namespace

bool MovesAFile(uint64_t number) {
  switch (number) {
#ifdef __NR_link
    case __NR_link:
    case __NR_rename:
#endif
    case __NR_linkat:
    case __NR_renameat:
    case __NR_renameat2:
      return true;
    default:
      return false;
  }
}

std::vector<UniqueFd> FilesToMove(pid_t tid, uint64_t number, const uint64_t* arguments) {
  std::vector<UniqueFd> files;
  const auto add = [&](uint64_t folder, uint64_t address, bool follow, bool may_be_empty) {
    const std::string name = ReadText(tid, address);
    if (name.empty() && !may_be_empty) return;
    // Without a name the descriptor itself is meant, whose link under /proc is to be followed.
    const int flags = O_PATH | O_CLOEXEC | (follow || name.empty() ? 0 : O_NOFOLLOW);
    UniqueFd file(open(AgentsName(tid, static_cast<int>(folder), name).c_str(), flags));
    if (file.valid()) files.push_back(std::move(file));
  };
  switch (number) {
    case __NR_linkat:
      add(arguments[0], arguments[1], (arguments[4] & AT_SYMLINK_FOLLOW) != 0, (arguments[4] & AT_EMPTY_PATH) != 0);
      break;
    case __NR_renameat2:
      if ((arguments[4] & RENAME_EXCHANGE) != 0) add(arguments[2], arguments[3], false, false);
      [[fallthrough]];
    case __NR_renameat:
      add(arguments[0], arguments[1], false, false);
      break;
    default:
      add(static_cast<uint64_t>(AT_FDCWD), arguments[0], false, false);
  }
  return files;
}

}  // namespace pyptox::agent
