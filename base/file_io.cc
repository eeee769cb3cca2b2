#include "base/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "base/unique_fd.h"

namespace pyptox {
namespace {

// The folder that holds `path`.
std::string ParentOf(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status SyncFolder(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || fsync(fd.get()) != 0) return ErrnoStatus(errno, path);
  return absl::OkStatus();
}

// A new file beside `path` under a name that nobody has; `name` is set to it. It is no longer for a longer name, which
// may have all the bytes that a name can have.
absl::StatusOr<UniqueFd> MakeTemporaryBeside(const std::string& path, std::string* name) {
  static std::atomic<uint64_t> counter{0};
  while (true) {
    *name = absl::StrCat(path.substr(0, path.rfind('/') + 1), ".tmp-", getpid(), "-", counter++);
    UniqueFd fd(open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd.valid()) return fd;
    if (errno != EEXIST) return ErrnoStatus(errno, path);
  }
}

// Names in the folder, without `.` and `..`.
absl::StatusOr<std::vector<std::string>> ListFolder(int folder_fd) {
  UniqueFd own(openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own.valid()) return ErrnoStatus(errno, "open folder");
  std::unique_ptr<DIR, int (*)(DIR*)> dir(fdopendir(own.get()), closedir);
  if (dir == nullptr) return ErrnoStatus(errno, "read folder");
  own.Release();
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(dir.get());
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return ErrnoStatus(errno, "read folder");
  return names;
}

// Removes trees of any depth with two open folders and no recursion: every sub-folder found in a folder of the root
// is first renamed up into the root.
class TreeRemover {
 public:
  explicit TreeRemover(int root_fd) : root_fd_(root_fd) {}

  // Empties the root.
  absl::Status Run() {
    while (true) {
      absl::StatusOr<std::vector<std::string>> names = ListFolder(root_fd_);
      if (!names.ok()) return names.status();
      if (names->empty()) return absl::OkStatus();
      for (const std::string& name : *names) {
        if (absl::Status status = RemoveFromRoot(name); !status.ok()) return status;
      }
    }
  }

 private:
  // Is `name` in `folder_fd` a real folder? If so, makes it usable by its owner.
  static bool PrepareFolder(int folder_fd, const std::string& name) {
    struct stat info {};
    if (fstatat(folder_fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) return false;
    if ((info.st_mode & 0700) != 0700) fchmodat(folder_fd, name.c_str(), 0700, 0);
    return true;
  }

  absl::Status RemoveFromRoot(const std::string& name) {
    if (!PrepareFolder(root_fd_, name)) return Unlink(root_fd_, name, 0);
    UniqueFd folder(openat(root_fd_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder.valid()) return ErrnoStatus(errno, name);
    absl::StatusOr<std::vector<std::string>> names = ListFolder(folder.get());
    if (!names.ok()) return names.status();
    for (const std::string& inner : *names) {
      absl::Status status =
          PrepareFolder(folder.get(), inner) ? MoveToRoot(folder.get(), inner) : Unlink(folder.get(), inner, 0);
      if (!status.ok()) return status;
    }
    return Unlink(root_fd_, name, AT_REMOVEDIR);
  }

  absl::Status MoveToRoot(int folder_fd, const std::string& name) {
    while (true) {
      const std::string target = absl::StrCat("removed-", counter_++);
      if (renameat(folder_fd, name.c_str(), root_fd_, target.c_str()) == 0) return absl::OkStatus();
      if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return ErrnoStatus(errno, name);
    }
  }

  static absl::Status Unlink(int folder_fd, const std::string& name, int flags) {
    if (unlinkat(folder_fd, name.c_str(), flags) == 0 || errno == ENOENT) return absl::OkStatus();
    return ErrnoStatus(errno, name);
  }

  const int root_fd_;
  uint64_t counter_ = 0;
};

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view what) {
  const std::string text = absl::StrCat(AbslView(what), ": ", strerror(error));
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    case EEXIST:
      return absl::AlreadyExistsError(text);
    case ENOEXEC:
      return absl::FailedPreconditionError(text);
    default:
      return absl::InternalError(text);
  }
}

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t max_bytes) {
  // Without O_NONBLOCK the open of a fifo would wait for a writer.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path);
  if (!S_ISREG(info.st_mode)) return absl::FailedPreconditionError(absl::StrCat(path, ": not a regular file"));
  std::string data;
  std::vector<char> buffer(1 << 16);
  while (true) {
    const ssize_t n = read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path);
    if (n == 0) return data;
    if (data.size() + static_cast<size_t>(n) > max_bytes) {
      return absl::OutOfRangeError(absl::StrCat(path, ": larger than ", max_bytes, " bytes"));
    }
    data.append(buffer.data(), static_cast<size_t>(n));
  }
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view data, int mode) {
  std::string temporary;
  absl::StatusOr<UniqueFd> fd = MakeTemporaryBeside(path, &temporary);
  if (!fd.ok()) return fd.status();
  absl::Status status = WriteAll(fd->get(), data);
  if (!status.ok()) {
    status = absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  } else if (fchmod(fd->get(), static_cast<mode_t>(mode)) != 0 || fsync(fd->get()) != 0 ||
             rename(temporary.c_str(), path.c_str()) != 0) {
    status = ErrnoStatus(errno, path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return SyncFolder(ParentOf(path));
}

absl::Status WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "write");
    data.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status MakeFolders(const std::string& path, int mode) {
  size_t end = 0;
  while (end != std::string::npos) {
    end = path.find('/', end + 1);
    const std::string prefix = path.substr(0, end);
    if (mkdir(prefix.c_str(), static_cast<mode_t>(mode)) == 0) continue;
    const int error = errno;
    struct stat info {};
    if (stat(prefix.c_str(), &info) == 0) {
      if (S_ISDIR(info.st_mode)) continue;
      return absl::FailedPreconditionError(absl::StrCat(path, ": ", prefix, " is not a folder"));
    }
    return ErrnoStatus(error, path);
  }
  return absl::OkStatus();
}

absl::Status RemoveTree(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(errno, path);
  if (!S_ISDIR(info.st_mode)) return unlink(path.c_str()) == 0 ? absl::OkStatus() : ErrnoStatus(errno, path);
  if ((info.st_mode & 0700) != 0700) chmod(path.c_str(), 0700);
  UniqueFd root(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root.valid()) return ErrnoStatus(errno, path);
  if (absl::Status status = TreeRemover(root.get()).Run(); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  }
  return rmdir(path.c_str()) == 0 ? absl::OkStatus() : ErrnoStatus(errno, path);
}

absl::StatusOr<uint64_t> FreeBytes(const std::string& path) {
  struct statvfs info {};
  if (statvfs(path.c_str(), &info) != 0) return ErrnoStatus(errno, path);
  return uint64_t{info.f_bavail} * info.f_frsize;
}

}  // namespace pyptox
