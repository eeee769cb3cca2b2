#include "reports/table.h"

#include "gtest/gtest.h"

namespace pyptox::reports {
namespace {

const Table kSmall{{"LANE", "STANDING"}, {{"cpu-scalar@dev", "PASS"}, {"\u4e2d\u6587", "STALE(driver)"}}};

TEST(TableTest, Text) {
  EXPECT_EQ(RenderText(kSmall),
            "LANE            STANDING\n"
            "cpu-scalar@dev  PASS\n"
            "\u4e2d\u6587            STALE(driver)\n");
}

TEST(TableTest, TextOfColumnsFromElsewhere) {
  EXPECT_EQ(RenderText({{"\x1b[2J", "b"}, {{"1", "2", "3"}, {}}}), "\\x1b[2J  b\n1        2  3\n\n");
}

TEST(TableTest, Markdown) {
  EXPECT_EQ(RenderMarkdown({{"A", "B"}, {{"a|b", "<i>&"}, {"x_y*", "\n"}}}),
            "| A | B |\n"
            "| --- | --- |\n"
            "| a\\|b | &lt;i\\>&amp; |\n"
            "| x\\_y\\* | \\\\x0a |\n");
}

TEST(TableTest, Csv) {
  EXPECT_EQ(RenderCsv({{"A", "B"}, {{"x", "a,\"b\""}, {"=1+1", "-5"}, {"-5+1", "\uff1dx"}, {"", "-1.5"}}}),
            "\"A\",\"B\"\r\n"
            "\"x\",\"a,\"\"b\"\"\"\r\n"
            "\"'=1+1\",\"-5\"\r\n"
            "\"'-5+1\",\"'\uff1dx\"\r\n"
            "\"\",\"-1.5\"\r\n");
}

TEST(TableTest, NoRows) {
  EXPECT_EQ(RenderText({{"A"}, {}}), "A\n");
  EXPECT_EQ(RenderMarkdown({{"A"}, {}}), "| A |\n| --- |\n");
  EXPECT_EQ(RenderCsv({{"A"}, {}}), "\"A\"\r\n");
}

}  // namespace
}  // namespace pyptox::reports
