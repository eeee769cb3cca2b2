#include "backends/runner/json_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyptox::runner {
namespace {

using nlohmann::json;
using testing::ElementsAre;

// The message that `use` leaves on a view of `text`.
template <typename Use>
std::string ErrorOf(const char* text, Use use) {
  const json value = json::parse(text);
  absl::Status status;
  JsonObject object(value, "m", &status);
  use(object);
  return std::string(status.message());
}

TEST(JsonObject, ReadsEachType) {
  const json value = json::parse(R"({"s": "x", "b": true, "d": 0.5, "u": 7, "u64": "18446744073709551615", "i": -3,
                                     "i64": "-9223372036854775808", "l": [1, "2"], "e": "COLOR_GREEN", "inf": "-Infinity",
                                     "o": {"k": 1}, "os": [{"k": 1}, {"k": 2}]})");
  absl::Status status;
  JsonObject object(value, "m", &status);
  EXPECT_EQ(object.String("s"), "x");
  EXPECT_TRUE(object.Bool("b"));
  EXPECT_EQ(object.Double("d"), 0.5);
  EXPECT_EQ(object.Double("inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(object.Unsigned("u", 7), 7u);
  EXPECT_EQ(object.Unsigned("u64", UINT64_MAX), UINT64_MAX);
  EXPECT_EQ(object.Signed("i", -3, 0), -3);
  EXPECT_EQ(object.Signed("i64", INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_THAT(object.UnsignedList("l"), ElementsAre(1, 2));
  EXPECT_EQ(object.Enum("e", "COLOR_", {"RED", "GREEN"}), 2);
  EXPECT_EQ(object.Object("o")->Unsigned("k", 9), 1u);
  std::vector<JsonObject> list = object.List("os");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].Unsigned("k", 9), 2u);
  object.Finish();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(JsonObject, AbsentMembersAreDefaults) {
  EXPECT_EQ(ErrorOf("{}",
                    [](JsonObject& o) {
                      EXPECT_EQ(o.String("s"), "");
                      EXPECT_FALSE(o.Bool("b"));
                      EXPECT_EQ(o.Unsigned("u", 1) + o.List("l").size() + o.UnsignedList("n").size(), 0u);
                      EXPECT_EQ(o.Enum("e", "", {}), 0);
                      EXPECT_FALSE(o.Object("o").has_value());
                      EXPECT_FALSE(o.Has("s"));
                      o.Finish();
                    }),
            "");
}

TEST(JsonObject, WrongTypesNameTheMember) {
  EXPECT_EQ(ErrorOf(R"({"s": 1})", [](JsonObject& o) { o.String("s"); }), "m.s: not a string");
  EXPECT_EQ(ErrorOf(R"({"b": 1})", [](JsonObject& o) { o.Bool("b"); }), "m.b: not a boolean");
  EXPECT_EQ(ErrorOf(R"({"d": "1"})", [](JsonObject& o) { o.Double("d"); }), "m.d: not a number");
  EXPECT_EQ(ErrorOf(R"({"l": 1})", [](JsonObject& o) { o.UnsignedList("l"); }), "m.l: not a list");
  EXPECT_EQ(ErrorOf(R"({"l": [1, -1]})", [](JsonObject& o) { o.UnsignedList("l"); }),
            "m.l: not a list of unsigned integers");
  EXPECT_EQ(ErrorOf(R"({"o": 1})", [](JsonObject& o) { o.Object("o"); }), "m.o: not an object");
  EXPECT_EQ(ErrorOf(R"({"l": [{}, 3]})", [](JsonObject& o) { o.List("l"); }), "m.l[1]: not an object");
  EXPECT_EQ(ErrorOf("[]", [](JsonObject&) {}), "m: not an object");
  EXPECT_EQ(ErrorOf(R"({"s": ""})", [](JsonObject& o) { o.RequiredString("s"); }), "m.s: missing or empty");
  EXPECT_EQ(ErrorOf(R"({"e": "COLOR_BLUE"})", [](JsonObject& o) { o.Enum("e", "COLOR_", {"RED"}); }),
            "m.e: unknown value 'COLOR_BLUE'");
}

TEST(JsonObject, IntegersOutOfRangeOrNoIntegers) {
  for (const char* text : {R"({"u": 8})", R"({"u": -1})", R"({"u": 1.0})", R"({"u": "x"})", R"({"u": ""})",
                           R"({"u": "1 "})", R"({"u": "18446744073709551616"})", R"({"u": null})", R"({"u": "-1"})"}) {
    EXPECT_EQ(ErrorOf(text, [](JsonObject& o) { o.Unsigned("u", 7); }), "m.u: not an integer in 0 to 7") << text;
  }
  EXPECT_EQ(ErrorOf(R"({"i": 18446744073709551615})", [](JsonObject& o) { o.Signed("i", -5, 5); }),
            "m.i: not an integer in -5 to 5");
}

TEST(JsonObject, WhatNobodyAskedForIsAnErrorAndTheFirstErrorStays) {
  EXPECT_EQ(ErrorOf(R"({"a": 1, "b": 2})",
                    [](JsonObject& o) {
                      o.Unsigned("a", 9);
                      o.Finish();
                    }),
            "m.b: unknown member");
  EXPECT_EQ(ErrorOf(R"({"a": "x", "b": 2})",
                    [](JsonObject& o) {
                      o.Unsigned("a", 9);
                      o.Finish();
                    }),
            "m.a: not an integer in 0 to 9");
}

}  // namespace
}  // namespace pyptox::runner
