#include "backends/runner/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace pyptox::runner {
namespace {

using compare::DType;
using testing::Each;
using testing::ElementsAre;

template <typename T>
std::vector<T> Generated(const GenerateRule& rule, DType dtype, size_t count) {
  std::vector<T> values(count, static_cast<T>(0x5a));
  Generate(rule, dtype, std::as_writable_bytes(std::span(values)));
  return values;
}

TEST(Generate, ZeroAndIota) {
  EXPECT_THAT(Generated<uint16_t>({GenerateKind::kZero}, DType::kBf16, 5), Each(0));
  EXPECT_THAT(Generated<uint32_t>({GenerateKind::kIota}, DType::kF32, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(Generated<uint8_t>({GenerateKind::kIota}, DType::kBool, 4), ElementsAre(0, 1, 0, 1));
  const auto wrapped = Generated<uint8_t>({GenerateKind::kIota}, DType::kU8, 258);
  EXPECT_EQ(wrapped[255], 255);
  EXPECT_EQ(wrapped[257], 1);
  // All 65,536 patterns of a 16-bit type, each once.
  const auto patterns = Generated<uint16_t>({GenerateKind::kIota}, DType::kBf16, 65536);
  for (uint32_t i = 0; i < 65536; ++i) ASSERT_EQ(patterns[i], i);
}

// The published outputs of splitmix64 from seed 1234567.
TEST(Generate, BitsAreSplitmix64) {
  EXPECT_THAT(Generated<uint64_t>({GenerateKind::kBits, 1234567}, DType::kU64, 5),
              ElementsAre(6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
                          16408922859458223821u));
  // A narrow type takes the low bits of the same numbers.
  EXPECT_THAT(Generated<uint16_t>({GenerateKind::kBits, 1234567}, DType::kF16, 2),
              ElementsAre(static_cast<uint16_t>(6457827717110365317u), static_cast<uint16_t>(3203168211198807973u)));
  EXPECT_THAT(Generated<uint8_t>({GenerateKind::kBits, 1234567}, DType::kBool, 3), ElementsAre(1, 1, 1));
}

TEST(Generate, UniformFloatsByTheDefinition) {
  const GenerateRule rule{GenerateKind::kUniform, 42, -3, 5};
  const auto random = Generated<uint64_t>({GenerateKind::kBits, 42}, DType::kU64, 1000);
  const auto doubles = Generated<double>(rule, DType::kF64, 1000);
  const auto floats = Generated<float>(rule, DType::kF32, 1000);
  for (size_t i = 0; i < random.size(); ++i) {
    volatile const double scaled = std::ldexp(static_cast<double>(random[i] >> 11), -53) * 8.0;
    ASSERT_EQ(doubles[i], -3.0 + scaled);
    ASSERT_EQ(floats[i], static_cast<float>(doubles[i]));
    ASSERT_GE(doubles[i], -3);
    ASSERT_LT(doubles[i], 5);
  }
}

TEST(Generate, UniformIntegersReachBothBounds) {
  const auto values = Generated<int8_t>({GenerateKind::kUniform, 7, -2, 1}, DType::kI8, 400);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -2);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 1);
  EXPECT_THAT(Generated<int64_t>({GenerateKind::kUniform, 7, 9, 9}, DType::kI64, 3), Each(9));
  EXPECT_THAT(Generated<uint8_t>({GenerateKind::kUniform, 7, 0, 1}, DType::kBool, 50), Each(testing::Le(1)));
}

TEST(Generate, NothingIsFine) { Generate({GenerateKind::kBits, 1}, DType::kF32, {}); }

}  // namespace
}  // namespace pyptox::runner
