#include "controller/runtime/data_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/file_io.h"

namespace pyptox::controller {

absl::StatusOr<DataFolder> DataFolder::Open(const std::string& path) {
  if (auto status = MakeFolders(path); !status.ok()) return status;
  // Absolute, because the query worker and the socket's clients may stand elsewhere.
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (!real) return ErrnoStatus(errno, path);
  const std::string lock_path = absl::StrCat(real.get(), "/lock");
  UniqueFd lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return ErrnoStatus(errno, lock_path);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoStatus(errno, lock_path);
    return absl::UnavailableError(absl::StrCat("another controller uses ", path));
  }
  return DataFolder(real.get(), std::move(lock));
}

}  // namespace pyptox::controller
