#include "agent/steps/comparison_message.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace pyptox::agent {
namespace {

TEST(ComparisonMessageTest, CarriesEveryField) {
  const std::array<float, 4> expected = {1.0f, 0.0f, 3.0f, 4.0f};
  const std::array<float, 4> actual = {1.0f, -0.0f, 3.0f, 5.0f};
  const uint64_t shape[] = {2, 2};
  const v1::Comparison message = ComparisonMessage(compare::Compare(
      std::as_bytes(std::span(expected)), std::as_bytes(std::span(actual)), compare::DType::kF32, shape));
  EXPECT_FALSE(message.equal());
  EXPECT_EQ(message.elements(), 4u);
  EXPECT_EQ(message.different(), 2u);
  EXPECT_EQ(message.expected_bytes(), 16u);
  EXPECT_EQ(message.actual_bytes(), 16u);
  EXPECT_EQ(message.zero_sign(), 1u);
  EXPECT_EQ(message.first().index(), 1u);
  EXPECT_EQ(message.first().multi_index(0), 0u);
  EXPECT_EQ(message.first().multi_index(1), 1u);
  EXPECT_EQ(message.first().actual_hex(), "0x80000000");
  EXPECT_EQ(message.worst_size(), 2);
  EXPECT_EQ(message.max_ulp(), message.worst(0).ulp());
  EXPECT_EQ(ComparisonSentence(message), "2 of 4 elements, first at 1: 0x80000000 (-0) instead of 0x00000000 (0)");
}

}  // namespace
}  // namespace pyptox::agent
