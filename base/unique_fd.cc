#include "base/unique_fd.h"

#include <unistd.h>

namespace pyptox {

void UniqueFd::Reset(int fd) {
  // On Linux the descriptor is gone even when close says EINTR; a second close could hit somebody else's.
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

}  // namespace pyptox
