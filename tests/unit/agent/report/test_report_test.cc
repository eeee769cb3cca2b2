#include "agent/report/test_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agent/report/judge_report.h"

namespace pyptox::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kJUnit[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1" name="all">
  <testsuite name="ops" tests="4" failures="1" errors="1" skipped="1">
    <properties><property name="operations" value="4532"/><property name="host" value="dev"/></properties>
    <testcase classname="ops" name="add" time="0.1"/>
    <testcase classname="ops" name="mul"><failure message="index 3: 0x3f800000 != 0x3f800001">details</failure></testcase>
    <testcase classname="ops" name="div"><error>
      stack
      more</error></testcase>
    <testcase classname="ops" name="gpu"><skipped message="no device"/></testcase>
  </testsuite>
</testsuites>)";

constexpr char kGtest[] = R"({
  "tests": 4, "failures": 1, "disabled": 1, "errors": 0, "name": "AllTests",
  "testsuites": [{
    "name": "Ops", "tests": 4, "failures": 1, "disabled": 1, "errors": 0, "timestamp": "t", "time": "0s",
    "testsuite": [
      {"name": "Add", "status": "RUN", "result": "COMPLETED", "time": "0s", "classname": "Ops", "operations": "844"},
      {"name": "Mul", "status": "RUN", "result": "COMPLETED", "classname": "Ops",
       "failures": [{"failure": "a.cc:3\nExpected 1", "type": ""}]},
      {"name": "DISABLED_Div", "status": "NOTRUN", "result": "SUPPRESSED", "classname": "Ops"},
      {"name": "Gpu", "status": "RUN", "result": "SKIPPED", "classname": "Ops", "skipped": [{"message": "no device\n"}]}
    ]}]
})";

constexpr char kTap[] =
    "TAP version 13\n"
    "1..4\n"
    "ok 1 - add\n"
    "not ok 2 - mul\n"
    "  ---\n"
    "  message: 'differs'\n"
    "  ...\n"
    "ok 3 - gpu # SKIP no device\n"
    "not ok 4 - div # TODO not written\n"
    "# operations 4098\n";

std::string Shape(const TestReport& report) {
  std::string text;
  for (const ReportedCase& c : report.cases) {
    text += c.name + "=" +
            (c.outcome == ReportedOutcome::kPassed   ? "P"
             : c.outcome == ReportedOutcome::kFailed ? "F"
                                                     : "S");
    if (!c.reason.empty()) text += "(" + c.reason + ")";
    text += " ";
  }
  return text;
}

TEST(JUnit, CasesReasonsCounters) {
  const auto report = ParseJUnit(kJUnit, "r.xml");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Shape(*report),
            "ops.add=P ops.mul=F(index 3: 0x3f800000 != 0x3f800001) ops.div=F(stack) ops.gpu=S(no device) ");
  EXPECT_EQ(report->counters, (std::map<std::string, uint64_t>{{"operations", 4532}}));
}

TEST(JUnit, ControlCharacterIsRefusedWithItsByte) {
  const std::string text =
      "<testsuite tests=\"1\"><testcase name=\"a\"><system-out>\x01</system-out></testcase></testsuite>";
  const auto report = ParseJUnit(text, "r.xml");
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(report.status().message(), HasSubstr("byte " + std::to_string(text.find('\x01'))));
}

TEST(JUnit, WrongTotalDoctypeForeignRootAndDoubleCaseAreRefused) {
  EXPECT_THAT(ParseJUnit("<testsuite tests=\"2\"><testcase name=\"a\"/></testsuite>", "r").status().message(),
              HasSubstr("says tests=\"2\", but has 1"));
  EXPECT_THAT(ParseJUnit("<!DOCTYPE x [<!ENTITY a \"b\">]><testsuite/>", "r").status().message(),
              HasSubstr("document type"));
  EXPECT_THAT(ParseJUnit("<html/>", "r").status().message(), HasSubstr("<html>"));
  EXPECT_THAT(ParseJUnit("<testsuite><testcase name=\"a\"/><testcase name=\"a\"/></testsuite>", "r").status().message(),
              HasSubstr("twice"));
}

TEST(JUnit, AFailureIsNotHiddenByALaterSkip) {
  const auto report =
      ParseJUnit("<testsuite><testcase name=\"a\"><failure message=\"m\"/><skipped/></testcase></testsuite>", "r");
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(Shape(*report), "a=F(m) ");
}

// What a report says of a failure where no reader of cases looks.
TEST(JUnit, NothingThatSaysFailureIsPassedOver) {
  const auto fault = [](const std::string& inner) {
    return std::string(ParseJUnit("<testsuite name=\"s\">" + inner + "</testsuite>", "r").status().message());
  };
  EXPECT_EQ(fault("<testcase name=\"a\"/><error message=\"set-up\"/>"), "r: a <error> inside a <testsuite>");
  EXPECT_EQ(fault("<testcase name=\"a\"><properties><failure/></properties></testcase>"),
            "r: a <failure> inside a <properties>");
  EXPECT_EQ(fault("<system-out><testcase name=\"a\"/></system-out>"), "r: a <testcase> inside a <system-out>");
  EXPECT_EQ(fault("<testcase name=\"a\"><testsuite/></testcase>"), "r: a <testsuite> inside a <testcase>");
  EXPECT_EQ(fault("<testcase name=\"a\"><flakyFailure message=\"x\"/></testcase>"),
            "r: a <flakyFailure>: case 'a' failed before it passed");
  EXPECT_EQ(fault("<testcase name=\"a\"><failure/><rerunFailure/></testcase>"), "");
  const auto report = ParseJUnit(
      "<testsuite tests=\"4\" failures=\"2\" skipped=\"2\"><testcase name=\"a\" status=\"fail\"/>"
      "<testcase name=\"b\" result=\"skipped\"/><testcase name=\"c\" status=\"notrun\" result=\"suppressed\"/>"
      "<testcase name=\"d\" status=\"failed\"><failure message=\"m\"/></testcase></testsuite>",
      "r");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Shape(*report), "a=F(status=\"fail\") b=S(skipped without a reason) c=S(disabled) d=F(m) ");
}

// As most writers write them: every total, and 0 for what there is none of.
TEST(JUnit, TotalsOfZeroAreTotals) {
  const auto passes = ParseJUnit(
      "<testsuites tests=\"1\" failures=\"0\" errors=\"0\"><testsuite tests=\"1\" failures=\"0\" errors=\"0\" "
      "skipped=\"0\" disabled=\"0\"><testcase name=\"a\"/></testsuite></testsuites>",
      "r");
  ASSERT_TRUE(passes.ok()) << passes.status();
  EXPECT_EQ(Shape(*passes), "a=P ");
  EXPECT_TRUE(ParseJUnit("<testsuite tests=\"0\" failures=\"0\"/>", "r").ok());
  EXPECT_THAT(ParseJUnit("<testsuite failures=\"0\"><testcase name=\"a\"><failure/></testcase></testsuite>", "r")
                  .status()
                  .message(),
              HasSubstr("says failures=\"0\", but has 1"));
}

TEST(JUnit, MoreSkippedThanShownIsAContradiction) {
  for (const std::string key : {"skipped", "disabled"}) {
    EXPECT_THAT(ParseJUnit("<testsuite " + key + "=\"1\"><testcase name=\"a\"/></testsuite>", "r").status().message(),
                HasSubstr("says " + key + "=\"1\", but has 0"));
  }
}

// 23 million open suites fit into 256 MiB of text.
TEST(JUnit, DepthIsBounded) {
  std::string text;
  for (int i = 0; i < 65; ++i) text += "<testsuite>";
  EXPECT_EQ(ParseJUnit(text, "r").status().message(), "r: nested deeper than 64");
}

TEST(GtestJson, CasesReasonsCounters) {
  const auto report = ParseGtestJson(kGtest, "r.json");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Shape(*report), "Ops.Add=P Ops.Mul=F(a.cc:3) Ops.DISABLED_Div=S(disabled) Ops.Gpu=S(no device) ");
  EXPECT_EQ(report->counters, (std::map<std::string, uint64_t>{{"operations", 844}}));
}

TEST(GtestJson, TotalsMustAgree) {
  std::string text = kGtest;
  text.replace(text.find("\"failures\": 1"), 13, "\"failures\": 0");
  EXPECT_THAT(ParseGtestJson(text, "r").status().message(), HasSubstr("says failures = 0, but has 1"));
  text = kGtest;
  text.replace(text.rfind("\"failures\": 1"), 13, "\"failures\": 2");
  EXPECT_THAT(ParseGtestJson(text, "r").status().message(), HasSubstr("suite 'Ops' says failures = 2, but has 1"));
  for (const size_t at : {std::string(kGtest).find("\"errors\": 0"), std::string(kGtest).rfind("\"errors\": 0")}) {
    text = kGtest;
    text.replace(at, 11, "\"errors\": 1");
    EXPECT_THAT(ParseGtestJson(text, "r").status().message(), HasSubstr("says errors = 1, but has 0"));
  }
}

TEST(Tap, CasesReasonsCounters) {
  const auto report = ParseTap(kTap, "r.tap");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Shape(*report), "add=P mul=F(not ok) gpu=S(SKIP no device) div=S(TODO not written) ");
  EXPECT_EQ(report->counters, (std::map<std::string, uint64_t>{{"operations", 4098}}));
}

TEST(Tap, OnlyADirectiveEndsAName) {
  const auto report = ParseTap(
      "1..8\nok 1 - case #1\nok 2 - case #2\nnot ok 3 - a \\# TODO b\nnot ok 4 - bug#todo\nok 5#SKIP no device\n"
      "ok 6 - c #7 # skip none\nok 7 - d # SKIP\nnot ok 8 # TODO e\n",
      "r");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(Shape(*report),
            "case #1=P case #2=P a \\# TODO b=F(not ok) bug#todo=F(not ok) test 5=S(SKIP no device) c #7=S(skip none) "
            "d=S(skipped without a reason) test 8=S(TODO e) ");
}

TEST(Tap, GapsForeignLinesAndBailOutAreRefused) {
  EXPECT_THAT(ParseTap("1..2\nok 1\nok 3\n", "r").status().message(), HasSubstr("test number 3 where 2 is due"));
  EXPECT_THAT(ParseTap("1..1\nhello\nok 1\n", "r").status().message(), HasSubstr("line 2: this is not TAP"));
  EXPECT_THAT(ParseTap("1..1\nBail out! no device\n", "r").status().message(), HasSubstr("no device"));
  EXPECT_THAT(ParseTap("ok 1\n", "r").status().message(), HasSubstr("no plan"));
  EXPECT_THAT(ParseTap("1..1\nok 1 - a\xff\n", "r").status().message(), HasSubstr("line 2: not UTF-8 at byte 8"));
  EXPECT_THAT(ParseTap("1..1\nok 1\x1b[31m\n", "r").status().message(), HasSubstr("control character"));
}

// A cut report is an error, or (trailing blanks only) the whole one: never fewer cases, never another outcome.
TEST(AnyFormat, EveryCutIsAnErrorOrTheWhole) {
  const struct {
    v1::ReportFormat format;
    std::string text;
  } reports[] = {
      {v1::REPORT_FORMAT_JUNIT, kJUnit}, {v1::REPORT_FORMAT_GTEST_JSON, kGtest}, {v1::REPORT_FORMAT_TAP, kTap}};
  for (const auto& [format, text] : reports) {
    const auto whole = ParseTestReport(format, text, "r");
    ASSERT_TRUE(whole.ok()) << whole.status();
    for (size_t cut = 0; cut < text.size(); ++cut) {
      const auto part = ParseTestReport(format, text.substr(0, cut), "r");
      if (part.ok()) {
        EXPECT_EQ(Shape(*part), Shape(*whole)) << "format " << format << " cut at " << cut;
      }
    }
  }
}

v1::ReportStep Step(uint32_t planned) {
  v1::ReportStep step;
  step.set_file("build/r");
  step.set_planned(planned);
  return step;
}

TEST(Judge, ExitStatusAndReportMustAgree) {
  v1::Evidence evidence;
  const auto passing = *ParseTap("1..1\nok 1\n", "r");
  const auto failing = *ParseTap("1..1\nnot ok 1\n", "r");
  EXPECT_EQ(JudgeReport(passing, Step(1), 1, &evidence).kind(), "report_disagrees");
  EXPECT_EQ(JudgeReport(failing, Step(1), 0, &evidence).kind(), "report_disagrees");
  EXPECT_EQ(JudgeReport(failing, Step(1), 1, &evidence).verdict(), v1::VERDICT_FAIL);
  EXPECT_EQ(JudgeReport(passing, Step(1), 0, &evidence).verdict(), v1::VERDICT_PASS);
}

TEST(Judge, TooFewTooManyAndZeroCasesProveNothing) {
  v1::Evidence evidence;
  const auto one = *ParseTap("1..1\nok 1\n", "r");
  const auto none = *ParseTap("1..0 # nothing to do\n", "r");
  EXPECT_EQ(JudgeReport(one, Step(2), 0, &evidence).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(JudgeReport(none, Step(1), 0, &evidence).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(JudgeReport(none, Step(0), 0, &evidence).verdict(), v1::VERDICT_NO_VERDICT);
}

TEST(Judge, CoverageIsFullPartialMissingOrImpossible) {
  v1::ReportStep step = Step(1);
  v1::CoverageCounter* counter = step.add_coverage();
  counter->set_name("operations");
  counter->set_of(4532);
  const auto judge = [&](const std::string& line, v1::Evidence* evidence) {
    return JudgeReport(*ParseTap("1..1\nok 1\n" + line, "r"), step, 0, evidence);
  };
  v1::Evidence full, partial, missing, impossible;
  EXPECT_EQ(judge("# operations 4532\n", &full).verdict(), v1::VERDICT_PASS);
  EXPECT_THAT(full.not_covered(), IsEmpty());
  EXPECT_EQ(judge("# operations 844\n", &partial).verdict(), v1::VERDICT_PASS);
  ASSERT_EQ(partial.not_covered_size(), 1);
  EXPECT_EQ(partial.not_covered(0), "operations: 844 of 4532");
  EXPECT_EQ(judge("", &missing).kind(), "coverage");
  EXPECT_EQ(judge("# operations 4533\n", &impossible).verdict(), v1::VERDICT_INFRA);
  // Two values are a fault of the counter that is asked for alone.
  v1::Evidence two, others;
  const v1::Outcome outcome = judge("# operations 4532\n# operations 844\n", &two);
  EXPECT_EQ(outcome.verdict(), v1::VERDICT_INFRA);
  EXPECT_EQ(outcome.reason(), "build/r: counter 'operations' has two values, 4532 and 844");
  EXPECT_EQ(judge("# operations 4532\n# expected 5\n# expected 6\n", &others).verdict(), v1::VERDICT_PASS);
}

}  // namespace
}  // namespace pyptox::agent
