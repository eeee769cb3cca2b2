#include "backends/runner/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace pyptox::runner {
namespace {

using nlohmann::json;
using testing::ElementsAre;

std::vector<std::byte> Bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

BufferSpec Spec(const char* name, Role role, compare::DType dtype, std::vector<uint64_t> shape,
                std::vector<uint64_t> strides, uint64_t bytes) {
  BufferSpec spec;
  spec.name = name;
  spec.role = role;
  spec.dtype = dtype;
  spec.shape = std::move(shape);
  spec.strides = std::move(strides);
  spec.bytes = bytes;
  return spec;
}

struct Written {
  Manifest manifest;
  LaunchOutcome outcome;
};

Written TwoOutputs(const TempFolder& folder) {
  Written written;
  written.manifest.output_dir = folder.path();
  written.manifest.buffers = {Spec("x", Role::kIn, compare::DType::kU8, {1}, {1}, 1),
                              Spec("flags", Role::kOut, compare::DType::kBool, {3}, {1}, 3),
                              Spec("empty", Role::kOut, compare::DType::kF32, {0, 2}, {2, 1}, 0),
                              Spec("s", Role::kInOut, compare::DType::kBf16, {}, {}, 2),
                              // One row of two elements, three apart.
                              Spec("gaps", Role::kOut, compare::DType::kU8, {2}, {3}, 4)};
  written.outcome.outputs = {Bytes({1, 0, 1}), Bytes({}), Bytes({0x80, 0x3f}), Bytes({7, 0xa5, 0xa5, 8})};
  return written;
}

TEST(Result, OutputsAreRawFilesAndNothingElseUnlessAsked) {
  TempFolder folder;
  Written written = TwoOutputs(folder);
  ASSERT_TRUE(WriteOutputs(written.manifest, written.outcome).ok());
  EXPECT_THAT(folder.List(), ElementsAre("empty.bin", "flags.bin", "gaps.bin", "s.bin"));
  EXPECT_EQ(folder.Read("flags.bin"), std::string("\1\0\1", 3));
  EXPECT_EQ(folder.Read("empty.bin"), "");
  EXPECT_EQ(folder.Read("s.bin"), "\x80\x3f");
  written.outcome.outputs.clear();
  TempFolder nothing;
  written.manifest.output_dir = nothing.path();
  written.manifest.safetensors = true;
  ASSERT_TRUE(WriteOutputs(written.manifest, written.outcome).ok());
  EXPECT_THAT(nothing.List(), testing::IsEmpty());
}

TEST(Result, SafetensorsByTheFormat) {
  TempFolder folder;
  Written written = TwoOutputs(folder);
  written.manifest.safetensors = true;
  ASSERT_TRUE(WriteOutputs(written.manifest, written.outcome).ok());
  const std::string file = folder.Read("outputs.safetensors");
  ASSERT_GT(file.size(), 8u);
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(file[static_cast<size_t>(i)]);
  EXPECT_EQ(length % 8, 0u);
  ASSERT_EQ(file.size(), 8 + length + 9);
  const json header = json::parse(file.substr(8, length));
  EXPECT_EQ(header, json::parse(R"({
    "flags": {"dtype": "BOOL", "shape": [3], "data_offsets": [0, 3]},
    "empty": {"dtype": "F32", "shape": [0, 2], "data_offsets": [3, 3]},
    "s": {"dtype": "BF16", "shape": [], "data_offsets": [3, 5]},
    "gaps": {"dtype": "U8", "shape": [4], "data_offsets": [5, 9]}})"));
  EXPECT_EQ(file.substr(8 + length), std::string("\1\0\1\x80\x3f\7\xa5\xa5\x08", 9));
}

// Column by column in memory: a reader would take the bytes for rows, so no shape of two axes is claimed.
TEST(Result, SafetensorsClaimsNoShapeForPermutedAxes) {
  Written written;
  written.manifest.buffers = {Spec("y", Role::kOut, compare::DType::kU8, {2, 3}, {1, 2}, 6),
                              Spec("z", Role::kOut, compare::DType::kU8, {2, 3}, {3, 1}, 6)};
  written.outcome.outputs = {Bytes({1, 4, 2, 5, 3, 6}), Bytes({1, 2, 3, 4, 5, 6})};
  const std::string file = Safetensors(written.manifest, written.outcome);
  const json header = json::parse(file.substr(8, file.size() - 8 - 12));
  EXPECT_EQ(header["y"]["shape"], json::array({6}));
  EXPECT_EQ(header["z"]["shape"], json({2, 3}));
}

TEST(Result, JsonHasTheProtosNames) {
  Observation seen;
  seen.sve_vector_bytes = 32;
  seen.load = LoadReport{.before = {0x1f80, 0}, .after = {0x1f80, 0}};
  seen.load_text = "/lib/libm.so.6\nk.so\n";
  seen.launches = {{0, {0x1f80, 0}, 5}, {2, {0x9f80, 0}, 6}};
  seen.inputs.push_back({"x", "aa", "ab", 8, {}});
  compare::Comparison comparison;
  comparison.elements = 4;
  comparison.different = 1;
  comparison.first = {3, {1, 1}, "0x01", "0x02", "1", "2", UINT64_MAX};
  comparison.worst = {*comparison.first};
  seen.outputs.push_back({"y", "bb", "", 4, comparison});
  const json difference = {{"index", "3"},
                           {"multi_index", {"1", "1"}},
                           {"expected_hex", "0x01"},
                           {"actual_hex", "0x02"},
                           {"expected", "1"},
                           {"actual", "2"},
                           {"ulp", "18446744073709551615"}};
  const json expected = {{"outcome", "CASE_OUTCOME_MISMATCH"},
                         {"reason", "a sentence"},
                         {"launches", 2},
                         {"kernel_status", 2},
                         {"sve_vector_bytes", 32},
                         {"launch_ns", {"5", "6"}},
                         {"fp_before", {{"control", "0x00001f80"}, {"rounding", "FE_TONEAREST"}}},
                         {"fp_after", {{"control", "0x00009f80"}, {"rounding", "FE_TONEAREST"}}},
                         {"loaded", {"/lib/libm.so.6", "k.so"}},
                         {"inputs", {{{"name", "x"}, {"sha256", "aa"}, {"sha256_after", "ab"}, {"bytes", "8"}}}},
                         {"outputs",
                          {{{"name", "y"},
                            {"sha256", "bb"},
                            {"bytes", "4"},
                            {"comparison",
                             {{"equal", false},
                              {"elements", "4"},
                              {"different", "1"},
                              {"expected_bytes", "0"},
                              {"actual_bytes", "0"},
                              {"max_ulp", "0"},
                              {"nan_bits", "0"},
                              {"nan_one_side", "0"},
                              {"zero_sign", "0"},
                              {"first", difference},
                              {"worst", json::array({difference})}}}}}}};
  EXPECT_EQ(ResultJson({"MISMATCH", "a sentence"}, seen), expected);
}

TEST(Result, ASignalIsGivenForASignalOnly) {
  Observation seen;
  seen.end = ChildEnd::kSignal;
  seen.end_value = 11;
  EXPECT_EQ(ResultJson({"CRASH", "r"}, seen)["signal"], 11);
  seen.end = ChildEnd::kExit;
  EXPECT_FALSE(ResultJson({"EXITED", "r"}, seen).contains("signal"));
}

}  // namespace
}  // namespace pyptox::runner
