// Memory for one kernel buffer: shared between the judging parent and the launching child, with guards on both sides.
//
// `align` is kept exactly: the storage is not aligned to twice as much, a page apart.
// Layout: [no access][before: pattern][storage, aligned, then shifted by misalign][after: pattern][no access]. A stray
// write of one byte up to a page lands in a pattern and is found; a wild one hits a page without access and is a crash.
#ifndef PYPTOX_BACKENDS_RUNNER_GUARDED_BUFFER_H_
#define PYPTOX_BACKENDS_RUNNER_GUARDED_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace pyptox::runner {

class GuardedBuffer {
 public:
  // `align` is a power of two up to the page size, `misalign` below it. RESOURCE_EXHAUSTED without memory.
  static absl::StatusOr<GuardedBuffer> Make(uint64_t bytes, uint64_t align, uint64_t misalign);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  // The storage; valid in a forked child too.
  std::span<std::byte> storage() const { return {storage_, bytes_}; }

  // The changed guard byte nearest to the storage, as `3 bytes before` or `1 byte after`; empty if both guards are
  // whole.
  std::optional<std::string> BrokenGuard() const;

 private:
  GuardedBuffer() = default;
  std::span<std::byte> Before() const;
  std::span<std::byte> After() const;

  std::byte* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  std::byte* storage_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_GUARDED_BUFFER_H_
