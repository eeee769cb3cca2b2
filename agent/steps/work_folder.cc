#include "agent/steps/work_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "base/file_io.h"
#include "base/relative_path.h"

namespace pyptox::agent {
namespace {

constexpr int kMaxDepth = 32;

// Appends `prefix`NAME for each regular file in the folder, which is closed.
void Walk(UniqueFd folder, const std::string& prefix, int depth, size_t limit, WorkFolder::Listing* listing) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(folder.get()), &closedir);
  if (stream == nullptr) return;
  folder.Release();
  while (const dirent* entry = readdir(stream.get())) {
    const std::string name = entry->d_name;
    struct stat info {};
    if (name == "." || name == "..") continue;
    if (fstatat(dirfd(stream.get()), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(info.st_mode) && depth < kMaxDepth) {
      UniqueFd inner(openat(dirfd(stream.get()), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (inner.valid()) Walk(std::move(inner), prefix + name + "/", depth + 1, limit, listing);
    } else if (S_ISREG(info.st_mode) && CheckRelativePath(prefix + name).ok() && listing->names.size() < limit) {
      listing->names.push_back(prefix + name);
    } else {
      ++listing->left_out;
    }
  }
}

}  // namespace

absl::StatusOr<WorkFolder> WorkFolder::Create(const std::string& work_root, uint64_t attempt) {
  const std::string path = fmt::format("{}/attempts/{}", work_root, attempt);
  absl::Status status = RemoveTree(path);
  for (const char* part : {"src", "build", "artifacts", "log", "tmp", "kernel"}) {
    if (status.ok()) status = MakeFolders(fmt::format("{}/{}", path, part));
  }
  if (!status.ok()) return status;
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  return WorkFolder(path, std::move(fd));
}

std::string WorkFolder::File::Link() const { return fmt::format("/proc/self/fd/{}", fd.get()); }

absl::StatusOr<WorkFolder::File> WorkFolder::Open(const std::string& name) const {
  absl::StatusOr<UniqueFd> fd = OpenBeneath(fd_.get(), name, O_RDONLY | O_NONBLOCK);
  if (!fd.ok()) return fd.status();
  struct stat info {};
  if (fstat(fd->get(), &info) != 0) return ErrnoStatus(errno, name);
  if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(fmt::format("{} is not a regular file", name));
  return File{*std::move(fd), static_cast<uint64_t>(info.st_size), (info.st_mode & S_IXUSR) != 0};
}

bool WorkFolder::Exists(const std::string& name) const {
  struct stat info {};
  return fstatat(fd_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

absl::StatusOr<std::string> WorkFolder::Read(const std::string& name, uint64_t max_bytes) const {
  const absl::StatusOr<File> file = Open(name);
  if (!file.ok()) return file.status();
  if (file->size > max_bytes) {
    return absl::OutOfRangeError(fmt::format("{} has {} bytes, more than {}", name, file->size, max_bytes));
  }
  return ReadStart(*file, file->size);
}

absl::StatusOr<std::string> WorkFolder::ReadStart(const File& file, size_t bytes) const {
  std::string data(bytes, '\0');
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t count = pread(file.fd.get(), data.data() + done, data.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, file.Link());
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  data.resize(done);
  return data;
}

absl::Status WorkFolder::Write(const std::string& name, std::string_view data) const {
  const absl::StatusOr<UniqueFd> fd = OpenBeneath(fd_.get(), name, O_WRONLY | O_CREAT | O_EXCL);
  return fd.ok() ? WriteAll(fd->get(), data) : fd.status();
}

absl::Status WorkFolder::MakeFolder(const std::string& name) const {
  return mkdirat(fd_.get(), name.c_str(), 0700) == 0 ? absl::OkStatus() : ErrnoStatus(errno, name);
}

absl::Status WorkFolder::RemoveFolder(const std::string& name) const { return RemoveTree(path_ + "/" + name); }

WorkFolder::Listing WorkFolder::FilesBeneath(const std::string& name, size_t limit) const {
  Listing listing;
  absl::StatusOr<UniqueFd> fd = OpenBeneath(fd_.get(), name, O_RDONLY | O_DIRECTORY);
  if (fd.ok()) Walk(*std::move(fd), name + "/", 0, limit, &listing);
  std::sort(listing.names.begin(), listing.names.end());
  return listing;
}

}  // namespace pyptox::agent
