#include "base/text_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/message_json.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr char kSuite[] = R"(# A small suite.
name: demo
contract:
  name: ops
  version: 9.0
sources: ["src/**", no]
planned: 1
lanes:
  - name: cpu-scalar@dev
    target: cpu-scalar
    resource: {name: dev}
    compile:
      - argv: [cc, -shared, -o, build/k.so, src/k.c]
        env:
          - {name: LEVEL, value: 0x10}
        outputs: [build/k.so]
    kernel:
      module: build/k.so
      safetensors: true
    limits: {run_s: 60}
cases:
  - name: add
    kernel: k_add
    expect_status: -7
    buffers:
      - {name: x, role: in, dtype: bf16, shape: [4, 0], generate: {kind: uniform, seed: 18446744073709551615, low: -1, high: .inf}}
      - name: y
        role: out
        dtype: f32
        golden: {path: golden/y.bin, packed: false}
    params:
      - i64: -9223372036854775808
      - f64: 1e-3
)";

std::vector<std::string> Faults(std::string_view text, google::protobuf::Message* message) {
  std::vector<std::string> faults;
  for (const TextFault& fault : ReadTextMessage(text, "f.yaml", message).faults) faults.push_back(fault.ToString());
  return faults;
}

std::vector<std::string> CaseFaults(std::string_view text) {
  v1::Case c;
  return Faults(text, &c);
}

// The faults of one parameter line inside an otherwise good message.
std::string LimitsFault(const std::string& value) {
  v1::Limits limits;
  const std::vector<std::string> faults = Faults("run_s: " + value, &limits);
  return faults.empty() ? "" : faults[0];
}

TEST(ReadTextMessage, ReadsASuite) {
  v1::Suite suite;
  const TextReading reading = ReadTextMessage(kSuite, "suite.yaml", &suite);
  ASSERT_THAT(reading.faults, IsEmpty()) << reading.faults[0].ToString();
  EXPECT_EQ(suite.contract().version(), "9.0");
  EXPECT_THAT(suite.sources(), ElementsAre("src/**", "no"));
  const v1::Lane& lane = suite.lanes(0);
  EXPECT_THAT(lane.compile(0).argv(), ElementsAre("cc", "-shared", "-o", "build/k.so", "src/k.c"));
  EXPECT_EQ(lane.compile(0).env(0).value(), "0x10");
  EXPECT_TRUE(lane.kernel().safetensors());
  EXPECT_EQ(lane.limits().run_s(), 60u);
  const v1::Case& c = suite.cases(0);
  EXPECT_EQ(c.expect_status(), -7);
  EXPECT_EQ(c.buffers(0).dtype(), v1::DTYPE_BF16);
  EXPECT_EQ(c.buffers(0).role(), v1::ROLE_IN);
  EXPECT_THAT(c.buffers(0).shape(), ElementsAre(4, 0));
  EXPECT_EQ(c.buffers(0).generate().kind(), v1::GENERATE_KIND_UNIFORM);
  EXPECT_EQ(c.buffers(0).generate().seed(), 18446744073709551615u);
  EXPECT_EQ(c.buffers(0).generate().low(), -1.0);
  EXPECT_TRUE(std::isinf(c.buffers(0).generate().high()));
  EXPECT_EQ(c.buffers(1).golden().path(), "golden/y.bin");
  EXPECT_EQ(c.params(0).i64(), INT64_MIN);
  EXPECT_EQ(c.params(1).f64(), 1e-3);
}

TEST(ReadTextMessage, TellsTheLineOfEveryField) {
  v1::Suite suite;
  const TextReading reading = ReadTextMessage(kSuite, "suite.yaml", &suite);
  EXPECT_EQ(reading.lines.at("name"), 2);
  EXPECT_EQ(reading.lines.at("contract.version"), 5);
  EXPECT_EQ(reading.lines.at("lanes[0]"), 9);
  EXPECT_EQ(reading.lines.at("lanes[0].compile[0].argv[4]"), 13);
  EXPECT_EQ(reading.lines.at("cases[0].buffers[1].dtype"), 29);
}

TEST(ReadTextMessage, SaysAllFaultsAtOnce) {
  v1::Suite suite;
  EXPECT_THAT(
      Faults(R"(name: x
contract: {name: ops}
sources: src
planned: many
colour: red
lanes:
  - name: a
    target: [t]
    resource: {}
    kernel: {module: m, repeat: -1, repeat: 2}
cases:
  - name: ""
    kernel: k
    buffers: []
)",
             &suite),
      UnorderedElementsAre(
          "f.yaml:2: contract.version: missing", "f.yaml:3: sources: must be a list, is \"src\"",
          "f.yaml:4: planned: must be an integer from 0 to 4294967295, is \"many\"",
          "f.yaml:5: colour: unknown field; known here: name, contract, sources, lanes, cases, "
          "cases_from, planned, golden_lock",
          "f.yaml:8: lanes[0].target: must be text, is a list", "f.yaml:9: lanes[0].resource.name: missing",
          "f.yaml:10: lanes[0].kernel.repeat: must be an integer from 0 to 4294967295, is \"-1\"",
          "f.yaml:10: lanes[0].kernel.repeat: written twice, first on line 10",
          "f.yaml:12: cases[0].name: must not be empty", "f.yaml:14: cases[0].buffers: must not be an empty list"));
}

TEST(ReadTextMessage, TextStaysAsWritten) {
  for (const char* word : {"no", "yes", "on", "9.0", "1e3", "0x1F", "010", "true", "2026-09-13", "1_000", "-", "NaN"}) {
    v1::Contract contract;
    EXPECT_THAT(Faults("{name: n, version: " + std::string(word) + "}", &contract), IsEmpty()) << word;
    EXPECT_EQ(contract.version(), word);
  }
  v1::Contract contract;
  EXPECT_THAT(Faults("name: n\nversion: \"null\"", &contract), IsEmpty());
  EXPECT_EQ(contract.version(), "null");
}

TEST(ReadTextMessage, NothingIsNoValue) {
  v1::Contract contract;
  for (const char* nothing : {"", "~", "null", "Null", "NULL"}) {
    EXPECT_THAT(
        Faults("name: n\nversion: " + std::string(nothing), &contract),
        ElementsAre("f.yaml:2: version: must be text, is nothing (put the word null in quotes if it is meant as "
                    "text)"))
        << nothing;
  }
  EXPECT_THAT(CaseFaults("name: a\nkernel: k\nbuffers:\n"),
              ElementsAre(HasSubstr("buffers: must be a list, is nothing")));
}

TEST(ReadTextMessage, Integers) {
  for (const char* good : {"0", "4294967295"}) EXPECT_EQ(LimitsFault(good), "") << good;
  for (const char* bad : {"4294967296", "-1", "1.0", "1e3", "0x10", "010", "00", "1_000", "'5'", "\"5\"", "true", "+5",
                          "5s", "''", ".inf", "99999999999999999999999"}) {
    EXPECT_THAT(LimitsFault(bad), HasSubstr("f.yaml:1: run_s: must be an integer from 0 to 4294967295")) << bad;
  }
  v1::Param param;
  EXPECT_THAT(Faults("i64: -9223372036854775809", &param), SizeIs(1));
  EXPECT_THAT(Faults("i64: 9223372036854775807", &param), IsEmpty());
  EXPECT_EQ(param.i64(), INT64_MAX);
}

TEST(ReadTextMessage, Numbers) {
  for (const auto& [text, value] : std::vector<std::pair<const char*, double>>{
           {"1", 1}, {"-2.5", -2.5}, {"1e-3", 1e-3}, {"5e-324", 5e-324}, {"-.inf", -HUGE_VAL}}) {
    v1::Param param;
    EXPECT_THAT(Faults("f64: " + std::string(text), &param), IsEmpty()) << text;
    EXPECT_EQ(param.f64(), value) << text;
  }
  for (const char* bad : {"inf", "nan", "NaN", "1e999", "1,5", "'1'", "0x1p3", "", "1 2"}) {
    v1::Param param;
    EXPECT_THAT(Faults("f64: " + std::string(bad), &param), ElementsAre(HasSubstr("f64: must be a number"))) << bad;
  }
}

TEST(ReadTextMessage, TrueAndFalseOnly) {
  for (const char* bad : {"yes", "no", "True", "on", "1", "'true'"}) {
    v1::FileRegion region;
    EXPECT_THAT(Faults("path: p\npacked: " + std::string(bad), &region),
                ElementsAre(HasSubstr("f.yaml:2: packed: must be true or false")))
        << bad;
  }
}

TEST(ReadTextMessage, EnumWords) {
  v1::ReportStep report;
  EXPECT_THAT(Faults("{format: gtest_json, file: f, planned: 1}", &report), IsEmpty());
  EXPECT_EQ(report.format(), v1::REPORT_FORMAT_GTEST_JSON);
  for (const char* bad : {"unspecified", "GTEST_JSON", "Junit", "REPORT_FORMAT_TAP", "1", "''"}) {
    v1::ReportStep other;
    EXPECT_THAT(Faults("{format: " + std::string(bad) + ", file: f, planned: 1}", &other), SizeIs(1)) << bad;
  }
  EXPECT_THAT(Faults("{format: xml, file: f, planned: 1}", &report),
              ElementsAre("f.yaml:1: format: must be one of junit, gtest_json, tap, is \"xml\""));
}

TEST(ReadTextMessage, OneofIsWrittenOnce) {
  v1::Param param;
  EXPECT_THAT(Faults("i64: 1\nf64: 2", &param), ElementsAre("f.yaml:2: f64: excludes i64; write one of the two"));
}

TEST(ReadTextMessage, Json) {
  v1::Contract contract;
  EXPECT_THAT(Faults("{\n\t\"name\": \"a\\u00e9\\/\\n\\\"\",\n\t\"version\":\"9.0\"\n}\n", &contract), IsEmpty());
  EXPECT_EQ(contract.name(), "aé/\n\"");
  EXPECT_THAT(Faults("{\"name\":\"a\",\"name\":\"b\",\"version\":[1]}", &contract),
              ElementsAre("f.yaml:1: name: written twice, first on line 1", HasSubstr("version: must be text")));
  v1::Limits limits;
  EXPECT_THAT(Faults("{\"run_s\":\"5\"}", &limits), ElementsAre(HasSubstr("is the text \"5\"")));
  EXPECT_THAT(Faults("{\"run_s\":5}", &limits), IsEmpty());
}

TEST(ReadTextMessage, ASuiteAsJsonIsTheSameSuite) {
  // Only what canonical protobuf JSON and our text form write alike: no enums, no 64-bit numbers.
  v1::Suite suite, again;
  ASSERT_THAT(Faults(kSuite, &suite), IsEmpty());
  suite.clear_cases();
  ASSERT_THAT(Faults(*MessageToCanonicalJson(suite), &again), IsEmpty());
  EXPECT_EQ(*MessageToCanonicalJson(again), *MessageToCanonicalJson(suite));
}

TEST(ReadTextMessage, RefusesWhatYamlCouldHide) {
  v1::Contract contract;
  EXPECT_THAT(Faults("name: &a x\nversion: *a", &contract),
              UnorderedElementsAre("f.yaml:1: anchors are not allowed", "f.yaml:2: aliases are not allowed",
                                   HasSubstr("f.yaml:2: version: must be text")));
  EXPECT_THAT(Faults("name: !!str 1\nversion: !x 2", &contract),
              ElementsAre("f.yaml:1: tags are not allowed", "f.yaml:2: tags are not allowed"));
  EXPECT_THAT(Faults("name: a\nversion: b\n---\nname: c\nversion: d\n", &contract),
              ElementsAre(HasSubstr("a second document in the file")));
  EXPECT_EQ(contract.name(), "a");
  EXPECT_THAT(Faults("<<: {name: a}\nname: b\nversion: c", &contract), ElementsAre(HasSubstr("<<: unknown field")));
  EXPECT_THAT(Faults("[name]: a\nname: b\nversion: c", &contract),
              ElementsAre("f.yaml:1: a field name must be plain text"));
}

TEST(ReadTextMessage, BadBytes) {
  v1::Contract contract;
  EXPECT_THAT(Faults("name: a\nversion: \xff", &contract), ElementsAre("f.yaml:2: not UTF-8 at byte 17"));
  EXPECT_THAT(Faults(std::string("name: a\nversion: \0", 18), &contract),
              ElementsAre("f.yaml:2: control character at byte 17"));
  EXPECT_THAT(Faults("name: a\nversion: \x1b[2J", &contract), ElementsAre("f.yaml:2: control character at byte 17"));
  EXPECT_THAT(Faults("\xEF\xBB\xBFname: a\r\nversion: b\r\n", &contract), IsEmpty());  // BOM and CRLF are fine
  EXPECT_EQ(contract.version(), "b");
}

TEST(ReadTextMessage, EmptyFiles) {
  v1::Contract contract;
  EXPECT_THAT(Faults("", &contract), ElementsAre("f.yaml: the file is empty"));
  EXPECT_THAT(Faults("# only a comment\n", &contract), SizeIs(1));
  EXPECT_THAT(Faults("---\n", &contract), SizeIs(1));
  EXPECT_THAT(Faults("just text", &contract), ElementsAre("f.yaml:1: must be a map, is \"just text\""));
  EXPECT_THAT(Faults("[]", &contract), ElementsAre("f.yaml:1: must be a map, is a list"));
}

TEST(ReadTextMessage, SyntaxFaultsHaveALine) {
  EXPECT_THAT(CaseFaults("name: a\nkernel: 'x\n"), ElementsAre(HasSubstr("f.yaml:")));
  EXPECT_THAT(CaseFaults("name: a\n  kernel: x\n"), ElementsAre(HasSubstr("f.yaml:2: syntax: ")));
  EXPECT_THAT(CaseFaults("{name: a"), ElementsAre(HasSubstr("syntax: ")));
}

TEST(ReadTextMessage, DepthIsCapped) {
  EXPECT_THAT(CaseFaults(std::string(64, '[') + std::string(64, ']')),
              ElementsAre("f.yaml:1: must be a map, is a list"));
  EXPECT_THAT(CaseFaults(std::string(65, '[') + std::string(65, ']')), ElementsAre("f.yaml:1: nested deeper than 64"));
  EXPECT_THAT(CaseFaults(std::string(100'000, '[')), SizeIs(1));
  std::string block;
  for (int i = 0; i < 300; ++i) block += std::string(static_cast<size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(CaseFaults(block), ElementsAre("f.yaml:65: nested deeper than 64"));
  EXPECT_THAT(CaseFaults(std::string(100'000, '{')), SizeIs(1));
  std::string dashes;
  for (int i = 0; i < 10'000; ++i) dashes += "- ";
  EXPECT_THAT(CaseFaults(dashes), SizeIs(1));
}

TEST(ReadTextMessage, HostileTextInFaultsIsEscapedAndCut) {
  v1::Limits limits;
  const std::vector<std::string> faults = Faults("run_s: \"\\e[2J" + std::string(500, 'x') + "\"", &limits);
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_THAT(faults[0], HasSubstr("\\x1b[2Jxxx"));
  EXPECT_LT(faults[0].size(), 250u);
  EXPECT_THAT(Faults("\"a\\u009b\\nb\": 1", &limits), ElementsAre(HasSubstr("\\n")));
}

TEST(ReadTextMessage, MergingAppendsLists) {
  v1::CaseList list;
  const std::string text = "cases: [{name: a, kernel: k, buffers: [{name: x, role: in, dtype: f32}]}]";
  EXPECT_THAT(Faults(text, &list), IsEmpty());
  EXPECT_THAT(Faults(text, &list), IsEmpty());
  EXPECT_EQ(list.cases_size(), 2);
}

TEST(ReadTextMessage, CutAtAnyByteNeverCrashes) {
  const std::string text = kSuite;
  for (size_t i = 0; i <= text.size(); ++i) {
    v1::Suite suite;
    ReadTextMessage(text.substr(0, i), "f", &suite);
  }
  v1::Suite suite;
  // What is planned stands before the cases here, so a cut one is seen at the next level at the latest.
  EXPECT_THAT(Faults(text.substr(0, text.find("planned")), &suite), Not(IsEmpty()));
}

TEST(ReadTextMessage, RandomDamageNeverCrashes) {
  const std::string text = kSuite;
  std::mt19937_64 random(20260913);
  const std::string alphabet =
      "{}[]:,-'\"|>&*!%@`#?\\\n\t ~\x80\xff"
      "0a";
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const size_t at = random() % damaged.size();
      switch (random() % 3) {
        case 0:
          damaged[at] = alphabet[random() % alphabet.size()];
          break;
        case 1:
          damaged.erase(at, random() % 20);
          break;
        default:
          damaged.insert(at, 1 + random() % 3, alphabet[random() % alphabet.size()]);
          break;
      }
    }
    v1::Suite suite;
    ReadTextMessage(damaged, "f", &suite);
  }
}

}  // namespace
}  // namespace pyptox
