#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace pyptox {
namespace {

TEST(Utf8, TakesEveryLength) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("a\x7f"));
  EXPECT_TRUE(IsValidUtf8(std::string_view("\0", 1)));
  EXPECT_TRUE(IsValidUtf8("\xC2\x80\xDF\xBF"));  // U+0080, U+07FF
  EXPECT_TRUE(IsValidUtf8("\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"));
  EXPECT_TRUE(IsValidUtf8("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));  // U+10000, U+10FFFF
}

TEST(Utf8, SaysWhereItBreaks) {
  for (const char* bad :
       {"\x80", "\xBF", "\xC0\xAF", "\xC1\xBF", "\xC2", "\xC2 ", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
        "\xE4\xB8", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF0\x9F\x98", "\xFF", "\xFE"}) {
    EXPECT_EQ(ValidUtf8Prefix(bad), 0u) << testing::PrintToString(bad);
    EXPECT_EQ(ValidUtf8Prefix(std::string("\xE4\xB8\xADx") + bad), 4u) << testing::PrintToString(bad);
  }
}

}  // namespace
}  // namespace pyptox
