#include "backends/runner/guarded_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file_io.h"

namespace pyptox::runner {
namespace {

size_t PageSize() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// Two patterns that differ from each other and from place to place, so that a copied guard is not a whole guard.
std::byte PatternBefore(size_t i) { return static_cast<std::byte>(0xB1 + 7 * i); }
std::byte PatternAfter(size_t i) { return static_cast<std::byte>(0x4E + 13 * i); }

std::string Distance(size_t bytes, std::string_view side) {
  return fmt::format("{} byte{} {}", bytes, bytes == 1 ? "" : "s", side);
}

}  // namespace

absl::StatusOr<GuardedBuffer> GuardedBuffer::Make(uint64_t bytes, uint64_t align, uint64_t misalign) {
  const size_t page = PageSize();
  // A page before, room for alignment and shift, the storage, and at least a page after.
  const size_t used = page + align + misalign + bytes + page;
  const size_t inner = (used + page - 1) / page * page;
  const size_t total = inner + 2 * page;
  void* mapping = mmap(nullptr, total, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return ErrnoStatus(errno, fmt::format("{} bytes for a buffer", total));
  GuardedBuffer buffer;
  buffer.mapping_ = static_cast<std::byte*>(mapping);
  buffer.mapping_bytes_ = total;
  buffer.bytes_ = bytes;
  if (mprotect(buffer.mapping_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
    return ErrnoStatus(errno, fmt::format("{} bytes for a buffer", total));
  }
  // As aligned as was asked and no more: code that needs twice as much must not pass by luck.
  buffer.storage_ = buffer.mapping_ + 2 * page + (align < page ? align : 0) + misalign;
  const std::span<std::byte> before = buffer.Before();
  for (size_t i = 0; i < before.size(); ++i) before[i] = PatternBefore(i);
  const std::span<std::byte> after = buffer.After();
  for (size_t i = 0; i < after.size(); ++i) after[i] = PatternAfter(i);
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(storage_, other.storage_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

std::span<std::byte> GuardedBuffer::Before() const {
  std::byte* begin = mapping_ + PageSize();
  return {begin, static_cast<size_t>(storage_ - begin)};
}

std::span<std::byte> GuardedBuffer::After() const {
  std::byte* begin = storage_ + bytes_;
  std::byte* end = mapping_ + mapping_bytes_ - PageSize();
  return {begin, static_cast<size_t>(end - begin)};
}

std::optional<std::string> GuardedBuffer::BrokenGuard() const {
  const std::span<std::byte> before = Before();
  for (size_t i = before.size(); i-- > 0;) {
    if (before[i] != PatternBefore(i)) return Distance(before.size() - i, "before");
  }
  const std::span<std::byte> after = After();
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] != PatternAfter(i)) return Distance(i + 1, "after");
  }
  return std::nullopt;
}

}  // namespace pyptox::runner
