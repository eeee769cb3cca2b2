// Read-only view of a region of a file. The file is mapped, so a sparse file of gigabytes costs only the pages of the
// region.
#ifndef PYPTOX_BACKENDS_RUNNER_FILE_REGION_H_
#define PYPTOX_BACKENDS_RUNNER_FILE_REGION_H_

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "backends/runner/manifest.h"

namespace pyptox::runner {

class MappedRegion {
 public:
  // FAILED_PRECONDITION with both lengths when the file does not fit `bytes` at the region's offset
  // (FileRegion::packed).
  static absl::StatusOr<MappedRegion> Open(const FileRegion& region, uint64_t bytes);
  MappedRegion(MappedRegion&& other) noexcept;
  MappedRegion& operator=(MappedRegion&&) = delete;
  ~MappedRegion();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedRegion() = default;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  std::span<const std::byte> bytes_;
};

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_FILE_REGION_H_
