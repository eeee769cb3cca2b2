#include "base/canonical_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace pyptox {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string Fault(std::string_view text) {
  const absl::StatusOr<json> value = ParseJson(text, "f.json");
  if (value.ok()) return "no fault";
  EXPECT_EQ(value.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(value.status().message());
}

TEST(CanonicalJson, Corpus) {
  for (const auto& [text, canonical] : std::vector<std::pair<const char*, const char*>>{
           {" { } ", "{}"},
           {"[ ]", "[]"},
           {R"({"b":1,"a":[true,false,null]})", R"({"a":[true,false,null],"b":1})"},
           {R"({"é":1,"z":2,"Z":3,"":4,"aa":5,"a":6})", R"({"":4,"Z":3,"a":6,"aa":5,"z":2,"é":1})"},
           {R"({"😀":1,"":2})", R"({"":2,"😀":1})"},  // by UTF-8 bytes, not by UTF-16 units
           {R"("\u0041\/\u00e9\ud83d\ude00")", "\"A/é😀\""},
           {R"("\"\\\b\f\n\r\t\u0000\u001f\u007f")", "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\""},
           {"-0", "0"},
           {"-0.0", "-0.0"},
           {"1.0", "1"},
           {"1e2", "100"},
           {"-5E-1", "-0.5"},
           {"0.1", "0.1"},
           {"0.30000000000000004", "0.30000000000000004"},
           {"1e20", "1e+20"},
           {"9223372036854775808.0", "9223372036854775808"},
           {"5e-324", "5e-324"},
           {"1.7976931348623157e308", "1.7976931348623157e+308"},
           {"18446744073709551615", "18446744073709551615"},
           {"-9223372036854775808", "-9223372036854775808"},
           {"123456789012.25", "123456789012.25"},
       }) {
    const absl::StatusOr<json> value = ParseJson(text, "f.json");
    ASSERT_TRUE(value.ok()) << text << ": " << value.status();
    const absl::StatusOr<std::string> out = CanonicalJson(*value);
    ASSERT_TRUE(out.ok()) << text << ": " << out.status();
    EXPECT_EQ(*out, canonical) << text;
    EXPECT_EQ(*CanonicalJson(*ParseJson(*out, "again")), *out) << "not a fixed point";
  }
}

TEST(CanonicalJson, RefusesWhatHasNoForm) {
  EXPECT_THAT(CanonicalJson(json(std::numeric_limits<double>::quiet_NaN())).status().message(), HasSubstr("NaN"));
  EXPECT_FALSE(CanonicalJson(json(-std::numeric_limits<double>::infinity())).ok());
  EXPECT_THAT(CanonicalJson(json("a\xff")).status().message(), HasSubstr("\"a\\xff\" is not UTF-8"));
  EXPECT_FALSE(CanonicalJson(json{{"\x80", 1}}).ok());
  EXPECT_FALSE(CanonicalJson(json::binary({1, 2})).ok());
  json deep = 1;
  for (int i = 0; i < 100'000; ++i) {
    json outer = json::array();
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_THAT(CanonicalJson(deep).status().message(), HasSubstr("deeper than 64"));
}

TEST(ParseJson, FaultsNameFileLineAndColumn) {
  EXPECT_EQ(Fault("{\n  \"a\": 1,\n  \"b\": {\"x\": 1, \"x\": 2}}"), "f.json: line 3, column 19: duplicate key \"x\"");
  EXPECT_THAT(Fault("{\"a\":1} x"), HasSubstr("f.json: line 1, column 9: "));
  EXPECT_THAT(Fault(""), HasSubstr("f.json: line 1, column 0: "));
  EXPECT_THAT(Fault("[1,\n2,]"), HasSubstr("f.json: line 2, column 3: "));
  EXPECT_THAT(Fault("[18446744073709551616]"), HasSubstr("integer 18446744073709551616 does not fit into 64 bits"));
  EXPECT_THAT(Fault("-9223372036854775809"), HasSubstr("does not fit"));
}

TEST(ParseJson, Refuses) {
  for (const char* bad : {"{'a':1}",
                          "{a:1}",
                          "[1 2]",
                          "[01]",
                          "[.5]",
                          "[1.]",
                          "[+1]",
                          "[NaN]",
                          "[Infinity]",
                          "nul",
                          "\"",
                          "\"\n\"",
                          "// c\n1",
                          "\"\\x\"",
                          "\"\\ud800\"",
                          "\"\xff\"",
                          "\"\xed\xa0\x80\"",
                          "{\"a\":1,\"\\u0061\":2}",
                          "1e999",
                          "[",
                          "]",
                          "{\"a\"}"}) {
    EXPECT_THAT(Fault(bad), HasSubstr("f.json: line ")) << bad;
  }
}

TEST(ParseJson, DepthIsCappedBeforeAnythingIsBuilt) {
  EXPECT_TRUE(ParseJson(std::string(64, '[') + std::string(64, ']'), "f").ok());
  EXPECT_THAT(Fault(std::string(65, '[') + std::string(65, ']')), HasSubstr("column 65: nested deeper than 64"));
  EXPECT_THAT(Fault(std::string(100'000, '[')), HasSubstr("nested deeper than 64"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(Fault(objects), HasSubstr("nested deeper than 64"));
}

TEST(ParseJson, CutAtAnyByteIsAFault) {
  const std::string text = R"({"a":[1,-2.5e3,"x\u00e9\n"],"b":{"c":null,"d":true}})";
  ASSERT_TRUE(ParseJson(text, "f").ok());
  for (size_t i = 0; i < text.size(); ++i) EXPECT_THAT(Fault(text.substr(0, i)), HasSubstr("f.json: line 1")) << i;
}

}  // namespace
}  // namespace pyptox
