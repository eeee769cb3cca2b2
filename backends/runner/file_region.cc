#include "backends/runner/file_region.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file_io.h"
#include "base/unique_fd.h"

namespace pyptox::runner {

absl::StatusOr<MappedRegion> MappedRegion::Open(const FileRegion& region, uint64_t bytes) {
  // O_NONBLOCK: a fifo is refused below; without it, its opening waits for a writer for ever.
  const UniqueFd fd(open(region.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno, region.path);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, region.path);
  if (!S_ISREG(info.st_mode))
    return absl::FailedPreconditionError(fmt::format("{} is not a regular file", region.path));
  const auto size = static_cast<uint64_t>(info.st_size);
  const uint64_t end = region.offset + bytes;
  if (region.packed ? size < end : size != end) {
    return absl::FailedPreconditionError(fmt::format("{} has {} bytes, the buffer needs {}{} at offset {}", region.path,
                                                     size, region.packed ? "" : "exactly ", bytes, region.offset));
  }
  MappedRegion mapped;
  if (bytes == 0) return mapped;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = region.offset / page * page;
  mapped.mapping_bytes_ = end - begin;
  void* const at = mmap(nullptr, mapped.mapping_bytes_, PROT_READ, MAP_PRIVATE, fd.get(), static_cast<off_t>(begin));
  if (at == MAP_FAILED) return ErrnoStatus(errno, region.path);
  mapped.mapping_ = at;
  mapped.bytes_ = {static_cast<const std::byte*>(at) + (region.offset - begin), bytes};
  return mapped;
}

MappedRegion::MappedRegion(MappedRegion&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)),
      bytes_(std::exchange(other.bytes_, {})) {}

MappedRegion::~MappedRegion() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

}  // namespace pyptox::runner
