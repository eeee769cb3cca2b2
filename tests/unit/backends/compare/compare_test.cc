#include "backends/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <new>

#include "backends/compare/float_bits.h"

// All that this program ever allocated by `new`. The operators are not inlined: g++ would see free() on memory of new.
static size_t g_allocated_bytes = 0;

[[gnu::noinline]] void* operator new(size_t bytes) {
  g_allocated_bytes += bytes;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace pyptox::compare {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <typename T>
std::span<const std::byte> BytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <typename T>
Comparison CompareValues(const std::vector<T>& expected, const std::vector<T>& actual, DType dtype,
                         const std::vector<uint64_t>& shape = {}) {
  return Compare(BytesOf(expected), BytesOf(actual), dtype, shape);
}

template <typename T>
std::string Decimal(T bits, DType dtype) {
  return DecimalOf(std::as_bytes(std::span(&bits, 1)), dtype);
}

template <typename T>
uint64_t Distance(T a, T b, DType dtype) {
  return DistanceOf(std::as_bytes(std::span(&a, 1)), std::as_bytes(std::span(&b, 1)), dtype);
}

TEST(Compare, EqualBytesAreEqualNansToo) {
  const std::vector<uint32_t> values = {0x7fc00000, 0x80000000, 0, 0x3f800000};
  const Comparison c = CompareValues(values, values, DType::kF32, {2, 2});
  EXPECT_TRUE(c.equal);
  EXPECT_EQ(c.elements, 4u);
  EXPECT_EQ(c.different, 0u);
  EXPECT_EQ(c.expected_bytes, 16u);
  EXPECT_EQ(c.actual_bytes, 16u);
  EXPECT_FALSE(c.first.has_value());
  EXPECT_THAT(c.worst, IsEmpty());
}

TEST(Compare, NothingEqualsNothing) {
  const Comparison c = Compare({}, {}, DType::kF32, std::vector<uint64_t>{0, 4});
  EXPECT_TRUE(c.equal);
  EXPECT_EQ(c.elements, 0u);
}

TEST(Compare, AnotherLengthIsNeverEqualAndSaysOnlyTheLengths) {
  const std::vector<uint8_t> four = {1, 2, 3, 4};
  const std::vector<uint8_t> three = {1, 2, 3};
  for (const Comparison& c : {CompareValues(four, three, DType::kU8), CompareValues(three, {}, DType::kU8)}) {
    EXPECT_FALSE(c.equal);
    EXPECT_EQ(c.elements, 0u);
    EXPECT_FALSE(c.first.has_value());
  }
  EXPECT_EQ(CompareValues(four, three, DType::kU8).expected_bytes, 4u);
  EXPECT_EQ(CompareValues(four, three, DType::kU8).actual_bytes, 3u);
}

TEST(Compare, OneFlippedBitIsFoundWhereverItIs) {
  std::vector<uint8_t> expected(3 * 4096 + 5);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<uint8_t>(i * 31);
  for (const size_t at : {size_t{0}, size_t{4095}, size_t{4096}, size_t{8192}, expected.size() - 1}) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> actual = expected;
      actual[at] ^= static_cast<uint8_t>(1 << bit);
      const Comparison c = CompareValues(expected, actual, DType::kU8);
      ASSERT_FALSE(c.equal);
      ASSERT_EQ(c.different, 1u);
      ASSERT_EQ(c.first->index, at);
    }
  }
}

TEST(Compare, TheFirstDifferenceIsSaidInFull) {
  std::vector<float> expected(24, 1.0f);
  std::vector<float> actual = expected;
  actual[17] = std::nextafter(1.0f, 2.0f);
  const Comparison c = CompareValues(expected, actual, DType::kF32, {2, 3, 4});
  ASSERT_TRUE(c.first.has_value());
  EXPECT_EQ(c.first->index, 17u);
  EXPECT_THAT(c.first->multi_index, ElementsAre(1, 1, 1));
  EXPECT_EQ(c.first->expected_hex, "0x3f800000");
  EXPECT_EQ(c.first->actual_hex, "0x3f800001");
  EXPECT_EQ(c.first->expected, "1");
  EXPECT_EQ(c.first->actual, "1.0000001");
  EXPECT_EQ(c.first->ulp, 1u);
  EXPECT_EQ(c.max_ulp, 1u);
  EXPECT_EQ(c.nan_bits + c.nan_one_side + c.zero_sign, 0u);
}

TEST(Compare, AShapeOfAnotherSizeGivesNoMultiIndex) {
  const Comparison c = CompareValues<uint8_t>({1, 2}, {1, 3}, DType::kU8, {3});
  EXPECT_THAT(c.first->multi_index, IsEmpty());
}

TEST(Compare, NansOfOtherBitsDiffer) {
  const Comparison c = CompareValues<uint32_t>({0x7fc00000}, {0xffc00000}, DType::kF32);
  EXPECT_FALSE(c.equal);
  EXPECT_EQ(c.nan_bits, 1u);
  EXPECT_EQ(c.max_ulp, 0u);
  EXPECT_EQ(c.first->expected_hex, "0x7fc00000");
  EXPECT_EQ(c.first->actual_hex, "0xffc00000");
  EXPECT_EQ(c.first->expected, "nan");
  EXPECT_EQ(c.first->actual, "-nan");
  EXPECT_EQ(c.first->ulp, kNoDistance);
}

TEST(Compare, ANanThatBecameInfinityIsANanOnOneSide) {
  const Comparison c = CompareValues<uint16_t>({0x7fc0, 0x3f80}, {0x7f80, 0x7fc0}, DType::kBf16);
  EXPECT_EQ(c.different, 2u);
  EXPECT_EQ(c.nan_one_side, 2u);
  EXPECT_EQ(c.first->actual, "inf");
  EXPECT_EQ(c.first->ulp, kNoDistance);
}

TEST(Compare, ZerosOfOtherSignDiffer) {
  const Comparison c = CompareValues<uint64_t>({0}, {uint64_t{1} << 63}, DType::kF64);
  EXPECT_FALSE(c.equal);
  EXPECT_EQ(c.zero_sign, 1u);
  EXPECT_EQ(c.max_ulp, 1u);
  EXPECT_EQ(c.first->expected, "0");
  EXPECT_EQ(c.first->actual, "-0");
}

TEST(Compare, WorstFiveAreLargestFirstThenLowestIndexNansBeforeAll) {
  const std::vector<uint32_t> expected(8, 0x3f800000);
  std::vector<uint32_t> actual = expected;
  actual[0] += 1;
  actual[1] += 7;
  actual[2] += 7;
  actual[3] += 100;
  actual[5] = 0x7fc00000;
  actual[6] += 2;
  actual[7] += 7;
  const Comparison c = CompareValues(expected, actual, DType::kF32);
  EXPECT_EQ(c.different, 7u);
  EXPECT_EQ(c.max_ulp, 100u);
  std::vector<uint64_t> order;
  for (const ElementDifference& worst : c.worst) order.push_back(worst.index);
  EXPECT_THAT(order, ElementsAre(5, 3, 1, 2, 7));
}

TEST(Compare, ABoolIsZeroOrOneAndNothingElse) {
  EXPECT_TRUE(CompareValues<uint8_t>({0, 1}, {0, 1}, DType::kBool).equal);
  const Comparison same = CompareValues<uint8_t>({1, 2}, {1, 2}, DType::kBool);
  EXPECT_FALSE(same.equal);
  EXPECT_EQ(same.different, 1u);
  EXPECT_EQ(same.first->index, 1u);
  EXPECT_EQ(CompareValues<uint8_t>({1, 0}, {255, 0}, DType::kBool).different, 1u);
}

TEST(Compare, BytesShortOfAnElementCount) {
  const Comparison c = CompareValues<uint8_t>({0, 0, 0, 0, 1}, {0, 0, 0, 0, 2}, DType::kF32);
  EXPECT_EQ(c.elements, 2u);
  EXPECT_EQ(c.different, 1u);
  EXPECT_EQ(c.first->index, 1u);
  EXPECT_EQ(c.first->actual_hex, "0x02");
  EXPECT_EQ(c.first->actual, "cut element");
}

// A cut element has no place in the shape, no distance, and is neither a zero nor a NaN.
TEST(Compare, ACutElementIsNoNumber) {
  for (const DType dtype : {DType::kF32, DType::kI32, DType::kU32}) {
    const Comparison c = CompareValues<uint8_t>({0, 0, 0, 0, 0xff, 0xff}, {0, 0, 0, 0, 0, 0xff}, dtype, {1});
    EXPECT_EQ(c.elements, 2u);
    EXPECT_THAT(c.first->multi_index, IsEmpty());
    EXPECT_EQ(c.first->ulp, kNoDistance);
    EXPECT_EQ(c.max_ulp, 0u);
    EXPECT_EQ(c.nan_bits + c.nan_one_side + c.zero_sign, 0u);
  }
}

TEST(Distance, IntegersSaturateAtNothingLessThanTheirRange) {
  EXPECT_EQ(Distance<int8_t>(-128, 127, DType::kI8), 255u);
  EXPECT_EQ(Distance<int32_t>(-1, 1, DType::kI32), 2u);
  EXPECT_EQ(Distance<int64_t>(INT64_MIN, INT64_MAX, DType::kI64), UINT64_MAX);
  EXPECT_EQ(Distance<uint64_t>(0, UINT64_MAX, DType::kU64), UINT64_MAX);
  EXPECT_EQ(Distance<uint16_t>(65535, 0, DType::kU16), 65535u);
}

// On the line of values: walk from -inf to inf and count steps.
TEST(Distance, EveryNeighbourOfTheNarrowTypesIsOneStepAway) {
  for (const DType dtype : {DType::kF16, DType::kBf16}) {
    const uint32_t infinity = dtype == DType::kF16 ? 0x7c00 : 0x7f80;
    std::vector<uint16_t> line;
    for (uint32_t m = infinity + 1; m-- > 0;) line.push_back(static_cast<uint16_t>(0x8000 | m));
    for (uint32_t m = 0; m <= infinity; ++m) line.push_back(static_cast<uint16_t>(m));
    for (size_t i = 0; i < line.size(); ++i) {
      ASSERT_EQ(Distance(line[0], line[i], dtype), i);
      ASSERT_EQ(Distance(line[i], line[0], dtype), i);
      ASSERT_EQ(Distance(line[i == 0 ? 1 : i - 1], line[i], dtype), 1u);
    }
    for (uint32_t bits = infinity + 1; bits < 0x8000; ++bits) {
      ASSERT_EQ(Distance<uint16_t>(static_cast<uint16_t>(bits), 0, dtype), kNoDistance);
    }
  }
}

// The bits of each narrow pattern against itself, and its decimal read back.
TEST(Decimal, EveryPatternOfTheNarrowTypesReadsBack) {
  for (const DType dtype : {DType::kF16, DType::kBf16}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const std::string text = Decimal(static_cast<uint16_t>(bits), dtype);
      const FloatClass kind = ClassOf(dtype, bits);
      if (kind == FloatClass::kNan) {
        ASSERT_EQ(text, bits >= 0x8000 ? "-nan" : "nan");
        continue;
      }
      if (kind == FloatClass::kInfinity) {
        ASSERT_EQ(text, bits >= 0x8000 ? "-inf" : "inf");
        continue;
      }
      double back = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), back);
      ASSERT_TRUE(error == std::errc() && end == text.data() + text.size()) << text;
      ASSERT_EQ(FloatBitsFromDouble(dtype, back), bits) << text;
    }
  }
}

TEST(Decimal, IsShort) {
  EXPECT_EQ(Decimal<uint16_t>(0x3dcd, DType::kBf16), "0.1");
  EXPECT_EQ(Decimal<uint16_t>(0x2e66, DType::kF16), "0.1");
  EXPECT_EQ(Decimal<uint32_t>(0x3dcccccd, DType::kF32), "0.1");
  EXPECT_EQ(Decimal<uint64_t>(std::bit_cast<uint64_t>(0.1), DType::kF64), "0.1");
  EXPECT_EQ(Decimal<int8_t>(-128, DType::kI8), "-128");
  EXPECT_EQ(Decimal<uint64_t>(UINT64_MAX, DType::kU64), "18446744073709551615");
  EXPECT_EQ(Decimal<int64_t>(INT64_MIN, DType::kI64), "-9223372036854775808");
  EXPECT_EQ(Decimal<uint8_t>(1, DType::kBool), "1");
}

TEST(Hex, MostSignificantFirst) {
  const std::vector<uint32_t> value = {0x01abcdef};
  EXPECT_EQ(HexOf(BytesOf(value)), "0x01abcdef");
}

// Every one of two million elements differs, and yet only what is reported is kept.
TEST(Compare, LargeStoragesNeedNoMemory) {
  const std::vector<uint64_t> expected(2 << 20, 0x3ff0000000000000);
  const std::vector<uint64_t> actual(2 << 20, 0x3ff0000000000001);
  const size_t before = g_allocated_bytes;
  const Comparison c = CompareValues(expected, actual, DType::kF64, {2 << 20});
  EXPECT_LT(g_allocated_bytes - before, 16u << 10);
  EXPECT_EQ(c.different, 2u << 20);
  EXPECT_EQ(c.max_ulp, 1u);
  EXPECT_EQ(c.first->index, 0u);
}

}  // namespace
}  // namespace pyptox::compare
