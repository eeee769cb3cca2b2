#include "agent/exec/opened_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace pyptox::agent {
namespace {

// A larger file is not hashed while its reader waits, and with it the limits of the step: a hole of a terabyte costs
// nothing to make.
constexpr int64_t kMaxHashed = int64_t{16} << 30;
// More than this no honest step opens; the rest is counted as unresolved.
constexpr size_t kMaxInputs = 20'000;

std::string ReadLink(const std::string& link) {
  std::array<char, 4097> text;
  const ssize_t length = readlink(link.c_str(), text.data(), text.size());
  if (length <= 0 || static_cast<size_t>(length) == text.size()) return "";
  return std::string(text.data(), static_cast<size_t>(length));
}

bool IsKernelFile(std::string_view path) {
  for (const std::string_view top : {"/proc/", "/sys/", "/dev/"}) {
    if (path.starts_with(top)) return true;
  }
  return false;
}

bool StartsEmpty(uint64_t flags) {
  return (flags & O_TRUNC) != 0 || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) ||
         (flags & O_TMPFILE) == O_TMPFILE;
}

}  // namespace

void OpenedFiles::Opened(pid_t tid, int fd, uint64_t flags) {
  if ((flags & O_PATH) != 0) return;
  const std::string link = fmt::format("/proc/{}/fd/{}", tid, fd);
  struct stat info {};
  const std::string path = ReadLink(link);
  if (path.empty() || stat(link.c_str(), &info) != 0) {
    ++unresolved_;
    return;
  }
  if (!S_ISREG(info.st_mode) || IsKernelFile(path)) return;
  const std::pair inode(info.st_dev, info.st_ino);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes && StartsEmpty(flags)) own_.insert(inode);
  if ((flags & O_ACCMODE) == O_WRONLY || own_.contains(inode)) return;
  Add(link, path, false);
}

void OpenedFiles::Moved(int file) {
  const std::string link = fmt::format("/proc/self/fd/{}", file);
  const std::string path = ReadLink(link);
  struct stat info {};
  if (path.empty() || stat(link.c_str(), &info) != 0) {
    ++unresolved_;
    return;
  }
  if ((!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) || IsKernelFile(path)) return;
  if (!own_.contains(std::pair(info.st_dev, info.st_ino))) Add(link, path, false);
}

void OpenedFiles::Executed(pid_t pid) {
  const std::string link = fmt::format("/proc/{}/exe", pid);
  const std::string program = ReadLink(link);
  if (program.empty()) {
    ++unresolved_;
    return;
  }
  Add(link, program, true);
  AddMapped(pid, program);
}

void OpenedFiles::AddMapped(pid_t pid, const std::string& program) {
  std::ifstream maps(fmt::format("/proc/{}/maps", pid));
  std::string line;
  std::set<std::string> done = {program};
  while (std::getline(maps, line)) {
    // RANGE PERMS OFFSET DEVICE INODE PATH
    std::istringstream fields(line);
    std::string skipped, path;
    uint64_t inode = 0;
    fields >> skipped >> skipped >> skipped >> skipped >> inode >> std::ws;
    std::getline(fields, path);
    if (inode == 0 || !path.starts_with('/') || !done.insert(path).second) continue;
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || info.st_ino != inode) {
      ++unresolved_;
      continue;
    }
    Add(path, path, true);
  }
}

void OpenedFiles::Add(const std::string& link, const std::string& path, bool executed) {
  struct stat info {};
  const bool too_large = stat(link.c_str(), &info) == 0 && info.st_size > kMaxHashed;
  if (too_large) ++unresolved_;
  const absl::StatusOr<FileDigests::Value> value = too_large ? absl::OutOfRangeError("too large") : digests_->Of(link);
  OpenedInput input;
  input.path = path;
  input.executed = executed;
  if (value.ok()) {
    input.sha256 = value->digest.Hex();
    input.size = value->size;
  }
  if (inputs_.size() >= kMaxInputs) {
    ++unresolved_;
    return;
  }
  if (seen_.emplace(input.path, input.sha256, executed).second) inputs_.push_back(std::move(input));
}

}  // namespace pyptox::agent
