#include "reports/visible_text.h"

#include "base/utf8.h"
#include "gtest/gtest.h"
#include "tests/support/hostile_strings.h"

namespace pyptox::reports {
namespace {

TEST(VisibleTextTest, PlainTextStays) {
  for (const char* text : {"", "a b", "x86-avx2@dev", "\u4e2d\u6587", "e\u0301", "\U0001f600", "100 % | <b>"}) {
    EXPECT_EQ(VisibleText(text), text);
  }
}

TEST(VisibleTextTest, HarmfulTextIsSpelledOut) {
  EXPECT_EQ(VisibleText("\x1b[31m"), "\\x1b[31m");
  EXPECT_EQ(VisibleText("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
  EXPECT_EQ(VisibleText(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(VisibleText("\x7f"), "\\x7f");
  EXPECT_EQ(VisibleText("\u0085"), "\\xc2\\x85");
  EXPECT_EQ(VisibleText("\u00ad"), "\\xc2\\xad");
  EXPECT_EQ(VisibleText("a\u202eb"), "a\\u{202e}b");
  EXPECT_EQ(VisibleText("\u061c\u200b\u2028\ufeff\U000e0041"), "\\u{061c}\\u{200b}\\u{2028}\\u{feff}\\u{e0041}");
}

TEST(VisibleTextTest, InvalidUtf8IsSpelledOutByteByByte) {
  EXPECT_EQ(VisibleText("a\xff"), "a\\xff");
  EXPECT_EQ(VisibleText("\xe4\xb8"), "\\xe4\\xb8");                      // cut
  EXPECT_EQ(VisibleText("\xc0\xaf"), "\\xc0\\xaf");                      // overlong
  EXPECT_EQ(VisibleText("\xed\xa0\x80"), "\\xed\\xa0\\x80");             // surrogate
  EXPECT_EQ(VisibleText("\xf4\x90\x80\x80z"), "\\xf4\\x90\\x80\\x80z");  // above U+10FFFF
  EXPECT_EQ(VisibleText("\xe4\xb8\xad"), "\u4e2d");
}

TEST(VisibleTextTest, CorpusIsInert) {
  ASSERT_GE(HostileStrings().size(), 200u);
  for (const std::string& text : HostileStrings()) {
    const std::string visible = VisibleText(text);
    EXPECT_TRUE(IsValidUtf8(visible)) << visible;
    for (const char c : visible) EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f) << visible;
    EXPECT_EQ(VisibleText(visible), visible) << "nothing harmful is left for a second pass";
  }
}

TEST(VisibleLogTest, NewlinesAndTabsStay) {
  VisibleLog log;
  EXPECT_EQ(log.Add("a\tb\n\x1b[1mc\r\n"), "a\tb\n\\x1b[1mc\\x0d\n");
  EXPECT_EQ(log.Finish(), "");
}

TEST(VisibleLogTest, ChunksMayCutAnywhere) {
  const std::string text = "\u4e2d\xff\u00e9\U0001f600\x1b\xe4\xb8";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    VisibleLog log;
    const std::string first = log.Add(text.substr(0, cut));
    const std::string second = log.Add(text.substr(cut));
    EXPECT_EQ(first + second + log.Finish(), VisibleText(text)) << cut;
  }
  VisibleLog log;
  std::string joined;
  for (const char c : text) joined += log.Add(std::string_view(&c, 1));
  EXPECT_EQ(joined + log.Finish(), VisibleText(text));
}

TEST(DisplayWidthTest, CountsColumns) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("\u4e2d\u6587"), 4u);
  EXPECT_EQ(DisplayWidth("\uff21"), 2u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(DisplayWidth("\U0001f600"), 2u);
}

TEST(ClipToWidthTest, CutsBetweenCharacters) {
  EXPECT_EQ(ClipToWidth("abc", 3), "abc");
  EXPECT_EQ(ClipToWidth("abcd", 3), "ab\u2026");
  EXPECT_EQ(ClipToWidth("\u4e2d\u6587\u5b57", 6), "\u4e2d\u6587\u5b57");
  EXPECT_EQ(ClipToWidth("\u4e2d\u6587\u5b57", 5), "\u4e2d\u6587\u2026");
  EXPECT_EQ(ClipToWidth("\u4e2d\u6587\u5b57", 4), "\u4e2d\u2026");
  EXPECT_EQ(ClipToWidth("abc", 1), "\u2026");
  EXPECT_EQ(ClipToWidth("abc", 0), "");
}

}  // namespace
}  // namespace pyptox::reports
