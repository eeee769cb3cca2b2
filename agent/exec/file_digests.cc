#include "agent/exec/file_digests.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <vector>

#include "base/file_io.h"
#include "base/unique_fd.h"

namespace pyptox::agent {
namespace {

constexpr size_t kMaxKnown = 65536;
constexpr size_t kReadBytes = 1 << 18;
constexpr int64_t kSettledSeconds = 2;

absl::StatusOr<FileDigests::Value> HashDescriptor(int fd, const std::string& path) {
  std::vector<char> buffer(kReadBytes);
  Sha256 hash;
  FileDigests::Value value;
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, path);
    if (count == 0) break;
    hash.Update(std::string_view(buffer.data(), static_cast<size_t>(count)));
    value.size += static_cast<uint64_t>(count);
  }
  value.digest = hash.Finish();
  return value;
}

bool IsSettled(const struct stat& info) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return info.st_ctim.tv_sec + kSettledSeconds < now.tv_sec && info.st_mtim.tv_sec + kSettledSeconds < now.tv_sec;
}

}  // namespace

absl::StatusOr<FileDigests::Value> FileDigests::Of(const std::string& path) {
  const auto key_of = [](const struct stat& s) {
    return Key(s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec);
  };
  struct stat before {};
  if (stat(path.c_str(), &before) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(before.st_mode)) return absl::FailedPreconditionError(fmt::format("{} is not a regular file", path));
  {
    std::lock_guard lock(mutex_);
    const auto at = known_.find(key_of(before));
    if (at != known_.end()) return Value{at->second, static_cast<uint64_t>(before.st_size)};
  }
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  if (fstat(fd.get(), &before) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(before.st_mode)) return absl::FailedPreconditionError(fmt::format("{} is not a regular file", path));
  absl::StatusOr<Value> value = HashDescriptor(fd.get(), path);
  if (!value.ok()) return value;

  struct stat after {};
  if (fstat(fd.get(), &after) == 0 && key_of(before) == key_of(after) && IsSettled(after)) {
    std::lock_guard lock(mutex_);
    if (known_.size() >= kMaxKnown) known_.clear();
    known_.emplace(key_of(after), value->digest);
  }
  return value;
}

}  // namespace pyptox::agent
