#include "backends/runner/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace pyptox::runner {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json Sample() {
  return json::parse(R"({
    "case": "add", "module": "k.so", "symbol": "add", "repeat": 3, "output_dir": "out", "timeout_ms": 500,
    "safetensors": true, "sve_vector_bytes": 32,
    "params": [{"i64": "-9223372036854775808"}, {"f64": 0.5}],
    "buffers": [
      {"name": "x", "role": "ROLE_IN", "dtype": "DTYPE_BF16", "shape": ["2", 3], "align": 128, "misalign": 1,
       "generate": {"kind": "GENERATE_KIND_UNIFORM", "seed": "18446744073709551615", "low": -1, "high": 2.5}},
      {"name": "s", "role": "ROLE_INOUT", "dtype": "DTYPE_I32", "shape": [4], "strides": [3],
       "file": {"path": "packed.bin", "offset": "1574877000", "packed": true}, "golden": {"path": "s.bin"}},
      {"name": "y", "role": "ROLE_OUT", "dtype": "DTYPE_F32", "shape": [], "golden": {"path": "y.bin"}}]})");
}

absl::StatusOr<Manifest> Parse(const json& value) { return ParseManifest(value.dump(), "m.json"); }

std::string ErrorOf(const json& value) { return std::string(Parse(value).status().message()); }

TEST(Manifest, ReadsAll) {
  const absl::StatusOr<Manifest> manifest = Parse(Sample());
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->case_name, "add");
  EXPECT_EQ(manifest->module, "k.so");
  EXPECT_EQ(manifest->symbol, "add");
  EXPECT_EQ(manifest->repeat, 3u);
  EXPECT_EQ(manifest->timeout_ms, 500u);
  EXPECT_EQ(manifest->sve_vector_bytes, 32u);
  EXPECT_TRUE(manifest->safetensors);
  ASSERT_EQ(manifest->params.size(), 2u);
  EXPECT_FALSE(manifest->params[0].is_float);
  EXPECT_EQ(manifest->params[0].i64, INT64_MIN);
  EXPECT_TRUE(manifest->params[1].is_float);
  EXPECT_EQ(manifest->params[1].f64, 0.5);

  const BufferSpec& x = manifest->buffers[0];
  EXPECT_EQ(x.dtype, compare::DType::kBf16);
  EXPECT_THAT(x.shape, ElementsAre(2, 3));
  EXPECT_THAT(x.strides, ElementsAre(3, 1));
  EXPECT_EQ(x.bytes, 12u);
  EXPECT_EQ(x.align, 128u);
  EXPECT_EQ(x.misalign, 1u);
  EXPECT_EQ(x.generate->seed, UINT64_MAX);
  EXPECT_EQ(x.generate->high, 2.5);
  const BufferSpec& s = manifest->buffers[1];
  EXPECT_EQ(s.role, Role::kInOut);
  EXPECT_EQ(s.bytes, 40u);  // Indices 0, 3, 6, 9.
  EXPECT_EQ(s.file->offset, 1574877000u);
  EXPECT_TRUE(s.file->packed);
  EXPECT_FALSE(s.golden->packed);
  const BufferSpec& y = manifest->buffers[2];
  EXPECT_EQ(y.bytes, 4u);
  EXPECT_EQ(y.align, 64u);
}

TEST(Manifest, AnyExtentOfZeroIsAnEmptyBuffer) {
  json value = Sample();
  value["buffers"][0]["shape"] = {5, 0};
  const absl::StatusOr<Manifest> manifest = Parse(value);
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->buffers[0].bytes, 0u);
}

TEST(Manifest, EveryMissingFieldIsNamed) {
  for (const char* key : {"case", "module", "symbol", "output_dir"}) {
    json value = Sample();
    value.erase(key);
    EXPECT_EQ(ErrorOf(value), std::string("m.json.") + key + ": missing or empty");
  }
  json value = Sample();
  value.erase("repeat");
  EXPECT_EQ(ErrorOf(value), "m.json.repeat: not in 1 to 100");
  for (const char* key : {"role", "dtype"}) {
    value = Sample();
    value["buffers"][1].erase(key);
    EXPECT_EQ(ErrorOf(value), std::string("m.json.buffers[1].") + key + ": missing");
  }
  value = Sample();
  value["buffers"][1]["file"].erase("path");
  EXPECT_EQ(ErrorOf(value), "m.json.buffers[1].file.path: missing or empty");
}

TEST(Manifest, UnknownMembersAreErrorsAtEveryLevel) {
  const struct {
    const char* pointer;
    const char* error;
  } table[] = {{"/x", "m.json.x: unknown member"},
               {"/params/0/x", "m.json.params[0].x: unknown member"},
               {"/buffers/2/x", "m.json.buffers[2].x: unknown member"},
               {"/buffers/0/generate/x", "m.json.buffers[0].generate.x: unknown member"},
               {"/buffers/1/file/x", "m.json.buffers[1].file.x: unknown member"},
               {"/buffers/1/golden/x", "m.json.buffers[1].golden.x: unknown member"}};
  for (const auto& row : table) {
    json value = Sample();
    value[json::json_pointer(row.pointer)] = 1;
    EXPECT_EQ(ErrorOf(value), row.error);
  }
}

// One member changed, and the member that the error must name.
TEST(Manifest, WrongValues) {
  const struct {
    const char* pointer;
    json value;
    const char* at;
  } table[] = {
      {"/repeat", 0, "m.json.repeat"},
      {"/repeat", 101, "m.json.repeat"},
      {"/expect_status", 2147483648u, "m.json.expect_status"},
      {"/timeout_ms", "x", "m.json.timeout_ms"},
      {"/params/0/f64", 1, "m.json.params[0].i64"},
      {"/buffers/0/role", "IN", "m.json.buffers[0].role"},
      {"/buffers/0/dtype", "DTYPE_F8", "m.json.buffers[0].dtype"},
      {"/buffers/0/dtype", 1, "m.json.buffers[0].dtype"},
      {"/buffers/0/shape", json::array({-1}), "m.json.buffers[0].shape"},
      {"/buffers/0/shape", {1099511627776u, 2}, "m.json.buffers[0].shape"},
      {"/buffers/0/shape", {1099511627777u, 0}, "m.json.buffers[0].shape"},
      {"/buffers/0/shape", {4294967296u, 4294967296u, 4294967296u}, "m.json.buffers[0].shape"},
      {"/buffers/1/strides", {1, 1}, "m.json.buffers[1].strides"},
      {"/buffers/1/strides", json::array({"18446744073709551615"}), "m.json.buffers[1].shape"},
      {"/buffers/0/align", 48, "m.json.buffers[0].align"},
      {"/buffers/0/align", 8192, "m.json.buffers[0].align"},
      {"/buffers/0/misalign", 4096, "m.json.buffers[0].misalign"},
      {"/buffers/0/generate/kind", "GENERATE_KIND_NORMAL", "m.json.buffers[0].generate.kind"},
      {"/buffers/0/generate/low", 3, "m.json.buffers[0].generate.high"},
      {"/buffers/0/generate/low", "-Infinity", "m.json.buffers[0].generate"},
      {"/buffers/0/dtype", "DTYPE_I8", "m.json.buffers[0].generate"},  // high is 2.5
      {"/buffers/0/golden", {{"path", "x"}}, "m.json.buffers[0].golden"},
      {"/buffers/0/file", {{"path", "x"}}, "m.json.buffers[0].generate"},
      {"/buffers/2/file", {{"path", "x"}}, "m.json.buffers[2].generate"},
      {"/buffers/1/name", "x", "m.json.buffers[1].name"},
  };
  for (const auto& row : table) {
    json value = Sample();
    value[json::json_pointer(row.pointer)] = row.value;
    EXPECT_THAT(ErrorOf(value), testing::StartsWith(std::string(row.at) + ": ")) << row.pointer << " = " << row.value;
  }
  json value = Sample();
  value["buffers"][2].erase("golden");
  EXPECT_EQ(ErrorOf(value), "m.json.buffers[2].golden: missing");
  value["expect_status"] = 2;
  EXPECT_THAT(ErrorOf(value), HasSubstr("m.json.buffers[1].golden"));
  value["buffers"][1].erase("golden");
  EXPECT_EQ(ErrorOf(value), "");
}

// Integers by rule lie within what their type can hold; otherwise they would wrap out of their own bounds.
TEST(Manifest, BoundsOfARuleFitTheType) {
  const struct {
    const char* dtype;
    double low, high;
    bool fits;
  } table[] = {{"I8", -128, 127, true},   {"I8", -129, 0, false},    {"I8", 0, 128, false},
               {"U8", 0, 255, true},      {"U8", -1, 0, false},      {"U16", 0, 65536, false},
               {"I32", -0x1p31, 0, true}, {"I32", 0, 0x1p31, false}, {"U64", 0, 0x1p53, true},
               {"I64", -0x1p53, 0, true}, {"I64", 0, 0x1p54, false}, {"I16", 0, 0.5, false},
               {"BF16", -1e9, 1e9, true}};
  for (const auto& row : table) {
    json value = Sample();
    value["buffers"][0]["dtype"] = std::string("DTYPE_") + row.dtype;
    value["buffers"][0]["generate"]["low"] = row.low;
    value["buffers"][0]["generate"]["high"] = row.high;
    EXPECT_EQ(Parse(value).ok(), row.fits) << row.dtype << " " << row.low << " " << row.high << ": " << ErrorOf(value);
  }
}

TEST(Manifest, ACaseWithoutOutputComparesNothing) {
  json value = Sample();
  value["buffers"].erase(2);
  EXPECT_EQ(ErrorOf(value), "");
  value["buffers"].erase(1);
  EXPECT_EQ(ErrorOf(value), "m.json.buffers: no out or inout buffer: the case would compare nothing");
  value.erase("buffers");
  EXPECT_EQ(ErrorOf(value), "m.json.buffers: no out or inout buffer: the case would compare nothing");
}

TEST(Manifest, DenseIsRowMajorWithoutGaps) {
  BufferSpec buffer;
  buffer.shape = {2, 3, 4};
  buffer.strides = {12, 4, 1};
  EXPECT_TRUE(IsDense(buffer));
  for (const std::vector<uint64_t>& strides :
       std::vector<std::vector<uint64_t>>{{1, 2, 6}, {12, 4, 2}, {13, 4, 1}, {0, 4, 1}, {4, 12, 1}}) {
    buffer.strides = strides;
    EXPECT_FALSE(IsDense(buffer));
  }
  EXPECT_TRUE(IsDense(BufferSpec{}));
}

// A name becomes a file's name.
TEST(Manifest, NamesAreSafe) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\n", "\xc3\xa9", "-rf"}) {
    json value = Sample();
    value["buffers"][0]["name"] = name;
    EXPECT_THAT(ErrorOf(value), testing::StartsWith("m.json.buffers[0].name: ")) << name;
  }
  json value = Sample();
  value["buffers"][0]["name"] = "Layer_3.k-cache";
  EXPECT_EQ(ErrorOf(value), "");
  value["buffers"][0]["name"] = std::string(251, 'x');
  EXPECT_EQ(ErrorOf(value), "");
  // Its file would be NAME.bin.
  value["buffers"][0]["name"] = std::string(252, 'x');
  EXPECT_NE(ErrorOf(value), "");
  value["buffers"][0]["name"] = "__metadata__";
  EXPECT_NE(ErrorOf(value), "");
}

TEST(Manifest, HostileTextIsAnErrorAndNothingElse) {
  std::string deep = R"({"case": )";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  const std::string whole = Sample().dump();
  for (const std::string& text : {std::string(), std::string("{"), std::string("[]"), std::string("null"), deep,
                                  whole + "x", std::string(R"({"case": "a", "case": "b"})")}) {
    const absl::StatusOr<Manifest> manifest = ParseManifest(text, "m.json");
    EXPECT_EQ(manifest.status().code(), absl::StatusCode::kInvalidArgument) << text.substr(0, 40);
    EXPECT_THAT(std::string(manifest.status().message()), HasSubstr("m.json"));
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_FALSE(ParseManifest(whole.substr(0, size), "m.json").ok()) << size;
  }
}

}  // namespace
}  // namespace pyptox::runner
