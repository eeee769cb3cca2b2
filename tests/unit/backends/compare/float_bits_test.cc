#include "backends/compare/float_bits.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace pyptox::compare {
namespace {

// The two 16-bit types read by plain arithmetic, apart from the code under test.
double ReferenceValue(int exponent_bits, int mantissa_bits, uint32_t bits) {
  const uint32_t exponent = (bits >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == (1u << exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1u << mantissa_bits) + mantissa, static_cast<int>(exponent) - bias - mantissa_bits);
}

struct NarrowType {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;
};
constexpr NarrowType kNarrow[] = {{DType::kF16, 5, 10}, {DType::kBf16, 8, 7}};

TEST(FloatBits, EveryPatternOfTheNarrowTypesReadsRightAndComesBack) {
  for (const NarrowType& type : kNarrow) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double expected = ReferenceValue(type.exponent_bits, type.mantissa_bits, bits);
      const double value = DoubleFromFloatBits(type.dtype, bits);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(value)) << bits;
        // A quiet NaN keeps every bit; a signalling one becomes quiet.
        ASSERT_EQ(FloatBitsFromDouble(type.dtype, value), bits | 1u << (type.mantissa_bits - 1)) << bits;
        ASSERT_EQ(ClassOf(type.dtype, bits), FloatClass::kNan);
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint64_t>(value), std::bit_cast<uint64_t>(expected)) << bits;
      ASSERT_EQ(FloatBitsFromDouble(type.dtype, value), bits);
      ASSERT_EQ(ClassOf(type.dtype, bits), std::isinf(expected) ? FloatClass::kInfinity
                                           : expected == 0      ? FloatClass::kZero
                                                                : FloatClass::kFinite);
    }
  }
}

TEST(FloatBits, HalfwayGoesToEvenAndABitMoreOrLessDoesNot) {
  for (const NarrowType& type : kNarrow) {
    const uint32_t infinity = ((1u << type.exponent_bits) - 1) << type.mantissa_bits;
    for (uint32_t bits = 0; bits + 1 < infinity; ++bits) {
      const double low = DoubleFromFloatBits(type.dtype, bits);
      const double high = DoubleFromFloatBits(type.dtype, bits + 1);
      const double middle = low + (high - low) / 2;
      const uint32_t even = (bits & 1) == 0 ? bits : bits + 1;
      ASSERT_EQ(FloatBitsFromDouble(type.dtype, middle), even) << bits;
      ASSERT_EQ(FloatBitsFromDouble(type.dtype, -middle), even | 0x8000u) << bits;
      ASSERT_EQ(FloatBitsFromDouble(type.dtype, std::nextafter(middle, 0)), bits) << bits;
      ASSERT_EQ(FloatBitsFromDouble(type.dtype, std::nextafter(middle, high)), bits + 1) << bits;
    }
  }
}

TEST(FloatBits, OverflowGivesInfinityFromHalfAStepPastTheLargest) {
  EXPECT_EQ(FloatBitsFromDouble(DType::kF16, 65519.99), 0x7bffu);
  EXPECT_EQ(FloatBitsFromDouble(DType::kF16, 65520.0), 0x7c00u);
  EXPECT_EQ(FloatBitsFromDouble(DType::kF16, -1e300), 0xfc00u);
  EXPECT_EQ(FloatBitsFromDouble(DType::kBf16, 0x1.ffp+127), 0x7f80u);
  EXPECT_EQ(FloatBitsFromDouble(DType::kBf16, std::nextafter(0x1.ffp+127, 0)), 0x7f7fu);
}

TEST(FloatBits, SingleAgreesWithTheProcessor) {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 200'000; ++i) {
    // Half of them near the range of f32, so that subnormals and overflow are met often.
    uint64_t bits = random();
    if (i % 2 == 0) bits = (bits & ~(uint64_t{0x7ff} << 52)) | ((1023 - 160 + random() % 300) << 52);
    const double value = std::bit_cast<double>(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(FloatBitsFromDouble(DType::kF32, value), std::bit_cast<uint32_t>(static_cast<float>(value))) << bits;
    const auto narrow = static_cast<uint32_t>(bits);
    if (std::isnan(std::bit_cast<float>(narrow))) continue;
    ASSERT_EQ(std::bit_cast<uint64_t>(DoubleFromFloatBits(DType::kF32, narrow)),
              std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(narrow))));
  }
}

// The formula that kernels use: add 0x7fff and the lowest kept bit, then cut. NaNs apart.
TEST(FloatBits, Bf16OfASingleAgreesWithTheIntegerFormula) {
  const auto check = [](uint32_t single) {
    const float value = std::bit_cast<float>(single);
    if (std::isnan(value)) return;
    const uint32_t expected = (single + 0x7fff + ((single >> 16) & 1)) >> 16;
    ASSERT_EQ(FloatBitsFromDouble(DType::kBf16, value), expected) << single;
  };
  // Each upper half with the lower halves at which rounding turns, and a prime stride through all of f32.
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) check(upper << 16 | lower);
  }
  for (uint64_t single = 0; single < uint64_t{1} << 32; single += 4093) check(static_cast<uint32_t>(single));
}

TEST(FloatBits, DoublePassesThrough) {
  EXPECT_EQ(FloatBitsFromDouble(DType::kF64, -0.0), uint64_t{1} << 63);
  EXPECT_EQ(DoubleFromFloatBits(DType::kF64, 0x3ff0000000000000u), 1.0);
}

}  // namespace
}  // namespace pyptox::compare
