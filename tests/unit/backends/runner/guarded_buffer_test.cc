#include "backends/runner/guarded_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pyptox::runner {
namespace {

TEST(GuardedBuffer, StandsWhereItWasAskedTo) {
  for (const uint64_t align : {1, 64, 4096}) {
    for (const uint64_t misalign : {0, 1, 31}) {
      for (const uint64_t bytes : {0, 1, 4095, 4096, 4097}) {
        const absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Make(bytes, align, misalign);
        ASSERT_TRUE(buffer.ok());
        EXPECT_NE(buffer->storage().data(), nullptr);
        EXPECT_EQ(buffer->storage().size(), bytes);
        const uintptr_t aligned = reinterpret_cast<uintptr_t>(buffer->storage().data()) - misalign;
        EXPECT_EQ(aligned % align, 0u);
        // Not aligned to more than was asked, or a kernel that needs more passes by luck.
        if (align < 4096) {
          EXPECT_EQ(aligned % (2 * align), align);
        }
        if (bytes > 0) std::memset(buffer->storage().data(), 0xff, bytes);
        EXPECT_EQ(buffer->BrokenGuard(), std::nullopt);
      }
    }
  }
}

// Any one bit of any byte up to a page away, on either side, is found where it is.
TEST(GuardedBuffer, EveryByteOfTheGuardsIsWatched) {
  absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Make(100, 64, 1);
  ASSERT_TRUE(buffer.ok());
  std::byte* const begin = buffer->storage().data();
  for (size_t distance = 1; distance <= 4096; ++distance) {
    for (const bool before : {true, false}) {
      std::byte* const at = before ? begin - distance : begin + 100 + distance - 1;
      *at ^= std::byte{1};
      const std::string expected =
          std::to_string(distance) + (distance == 1 ? " byte " : " bytes ") + (before ? "before" : "after");
      ASSERT_EQ(buffer->BrokenGuard(), expected);
      *at ^= std::byte{1};
    }
  }
  EXPECT_EQ(buffer->BrokenGuard(), std::nullopt);
}

TEST(GuardedBuffer, TheNearestIsNamed) {
  absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Make(8, 8, 0);
  ASSERT_TRUE(buffer.ok());
  std::memset(buffer->storage().data() + 8, 0, 64);
  EXPECT_EQ(buffer->BrokenGuard(), "1 byte after");
}

TEST(GuardedBuffer, BeyondTheGuardsIsACrash) {
  absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Make(8, 8, 0);
  ASSERT_TRUE(buffer.ok());
  // Less than two pages of guard on either side, then nothing that could be written to.
  std::byte* at = buffer->storage().data();
  EXPECT_DEATH(*const_cast<volatile std::byte*>(at - 2 * 4096) = std::byte{0}, "");
  EXPECT_DEATH(*const_cast<volatile std::byte*>(at + 2 * 4096) = std::byte{0}, "");
}

TEST(GuardedBuffer, MovesWithItsMemory) {
  absl::StatusOr<GuardedBuffer> first = GuardedBuffer::Make(16, 16, 0);
  ASSERT_TRUE(first.ok());
  std::byte* const at = first->storage().data();
  const GuardedBuffer second = *std::move(first);
  EXPECT_EQ(second.storage().data(), at);
  EXPECT_EQ(second.BrokenGuard(), std::nullopt);
}

}  // namespace
}  // namespace pyptox::runner
