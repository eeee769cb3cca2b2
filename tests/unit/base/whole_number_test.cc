#include "base/whole_number.h"

#include "gtest/gtest.h"

namespace pyptox {
namespace {

TEST(WholeNumber, TakesDecimalNumbersWithinBounds) {
  for (const char* text : {"0", "1", "10", "18446744073709551615"}) {
    EXPECT_EQ(WholeNumberFault(text, 0, UINT64_MAX), "") << text;
  }
  for (const char* text : {"-100", "-1", "0", "100"}) EXPECT_EQ(WholeNumberFault(text, -100, 100), "") << text;
  EXPECT_EQ(WholeNumberFault("-9223372036854775808", INT64_MIN, 0), "");
}

TEST(WholeNumber, RefusesEverythingElse) {
  for (const char* text : {"", " ", "-", "-0", "-1", "+1", " 1", "1 ", "010", "00", "0x1", "1e0", "1.0", "1'0", "1_0",
                           "abc", "18446744073709551616", "99999999999999999999"}) {
    EXPECT_NE(WholeNumberFault(text, 0, UINT64_MAX), "") << text;
  }
  for (const char* text : {"-101", "101", "-010", "--1", "-18446744073709551615"}) {
    EXPECT_NE(WholeNumberFault(text, -100, 100), "") << text;
  }
  EXPECT_NE(WholeNumberFault("0", 1, 10), "");
  EXPECT_NE(WholeNumberFault("-9223372036854775809", INT64_MIN, 0), "");
  EXPECT_EQ(WholeNumberFault("010", 0, 9), "'010' is not a whole number from 0 to 9");
}

}  // namespace
}  // namespace pyptox
