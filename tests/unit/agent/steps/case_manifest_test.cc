#include "agent/steps/case_manifest.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "backends/runner/manifest.h"
#include "base/message_json.h"
#include "matrix/suite_check.h"

namespace pyptox::agent {
namespace {

TEST(CaseManifestTest, AllOfTheCaseTravels) {
  v1::Lane lane;
  lane.mutable_kernel()->set_module("build/k.so");
  v1::Case one;
  one.set_name("c");
  one.set_kernel("symbol");
  one.set_expect_status(2);
  one.add_params()->set_i64(-5);
  one.add_params()->set_f64(0.5);
  v1::Buffer& buffer = *one.add_buffers();
  buffer.set_name("state");
  buffer.set_role(v1::ROLE_INOUT);
  buffer.set_dtype(v1::DTYPE_BF16);
  buffer.add_shape(2);
  buffer.add_shape(3);
  buffer.add_strides(1);
  buffer.add_strides(2);
  buffer.mutable_file()->set_path("inputs/p.bin");
  buffer.mutable_file()->set_offset(64);
  buffer.mutable_file()->set_packed(true);
  buffer.mutable_golden()->set_path("golden/g.bin");
  buffer.set_align(32);
  buffer.set_misalign(1);
  const v1::LaunchManifest manifest = MakeManifest(lane, one, "kernel/c/out");
  EXPECT_EQ(*MessageToCanonicalJson(manifest),
            R"({"buffers":[{"align":32,"dtype":"DTYPE_BF16","file":{"offset":"64","packed":true,)"
            R"("path":"src/inputs/p.bin"},"golden":{"path":"src/golden/g.bin"},"misalign":1,"name":"state",)"
            R"("role":"ROLE_INOUT","shape":["2","3"],"strides":["1","2"]}],"case":"c","expect_status":2,)"
            R"("module":"build/k.so","output_dir":"kernel/c/out","params":[{"i64":"-5"},{"f64":0.5}],"repeat":3,)"
            R"("symbol":"symbol","timeout_ms":60000})");
  lane.mutable_kernel()->set_repeat(1);
  lane.mutable_kernel()->set_safetensors(true);
  lane.mutable_kernel()->set_sve_vector_bytes(32);
  lane.mutable_limits()->set_case_s(5);
  const v1::LaunchManifest other = MakeManifest(lane, one, "o");
  EXPECT_EQ(other.repeat(), 1u);
  EXPECT_TRUE(other.safetensors());
  EXPECT_EQ(other.sve_vector_bytes(), 32u);
  EXPECT_EQ(other.timeout_ms(), 5000u);
}

// Draws from few values, among them those on both sides of each bound.
class EdgeCases {
 public:
  explicit EdgeCases(unsigned seed) : random_(seed) {}

  v1::Suite Suite() {
    v1::Suite suite;
    suite.set_name("ops");
    suite.mutable_contract()->set_name("ops");
    suite.mutable_contract()->set_version("1");
    suite.add_sources("**");
    suite.set_golden_lock("golden.sha256");
    suite.set_planned(1);
    v1::Lane& lane = *suite.add_lanes();
    lane.set_name("cpu-scalar@dev");
    lane.set_target("cpu-scalar");
    lane.mutable_resource()->set_name("dev");
    lane.mutable_kernel()->set_module("build/k.so");
    lane.mutable_kernel()->set_repeat(Pick<uint32_t>({0, 1, 100, 101}));
    lane.mutable_kernel()->set_sve_vector_bytes(Pick<uint32_t>({0, 16, 32, 256, 257, 272}));
    lane.mutable_limits()->set_case_s(Pick<uint32_t>({0, 1, 30 * 24 * 3600, 30 * 24 * 3600 + 1}));
    v1::Case& one = *suite.add_cases();
    one.set_name("c");
    one.set_kernel("c");
    one.set_expect_status(Pick<int32_t>({0, 0, 1}));
    AddBuffer(&one);
    return suite;
  }

 private:
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }

  void AddBuffer(v1::Case* one) {
    v1::Buffer& buffer = *one->add_buffers();
    buffer.set_name("b");
    buffer.set_role(Pick({v1::ROLE_OUT, v1::ROLE_INOUT}));
    buffer.set_dtype(static_cast<v1::DType>(1 + random_() % (v1::DType_ARRAYSIZE - 1)));
    const auto extent = [&] {
      constexpr uint64_t kMost = uint64_t{1} << 37;
      return Pick<uint64_t>({0, 1, 2, 3, kMost, kMost + 1, 8 * kMost, 8 * kMost + 1, ~uint64_t{0}});
    };
    for (size_t axes = random_() % 4; axes > 0; --axes) buffer.add_shape(extent());
    for (int axes = Pick({0, buffer.shape_size(), 1}); axes > 0; --axes) buffer.add_strides(extent());
    buffer.set_align(Pick<uint32_t>({0, 1, 3, 64, 4096, 8192}));
    buffer.set_misalign(Pick<uint32_t>({0, 1, 4095, 4096}));
    if (buffer.role() == v1::ROLE_INOUT) {
      v1::Generate& generate = *buffer.mutable_generate();
      generate.set_kind(static_cast<v1::GenerateKind>(random_() % v1::GenerateKind_ARRAYSIZE));
      generate.set_low(Bound());
      generate.set_high(Bound());
    }
    if (one->expect_status() == 0) {
      buffer.mutable_golden()->set_path("golden/b.bin");
      buffer.mutable_golden()->set_offset(Pick<uint64_t>({0, uint64_t{1} << 40, (uint64_t{1} << 40) + 1}));
    }
  }

  double Bound() {
    return Pick({0.0, 0.0, 0.5, -1.0, 127.0, 128.0, 255.0, 256.0, 0x1p53, 0x1p53 + 2, -0x1p63, 1e308, -1e308,
                 std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()});
  }

  std::mt19937 random_;
};

// A bound that one side has and the other has not would end every case as INFRA, long after `suite check` said yes.
TEST(CaseManifestTest, WhatSuiteCheckAcceptsTheRunnerAccepts) {
  EdgeCases edges(20261204);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    const v1::Suite suite = edges.Suite();
    if (!matrix::CheckSuite(suite).empty()) continue;
    ++accepted;
    const auto json = MessageToCanonicalJson(MakeManifest(suite.lanes(0), suite.cases(0), "out"));
    ASSERT_TRUE(json.ok()) << json.status();
    const auto manifest = runner::ParseManifest(*json, "manifest");
    ASSERT_TRUE(manifest.ok()) << manifest.status() << "\n" << suite.DebugString();
  }
  EXPECT_GT(accepted, 200);
}

}  // namespace
}  // namespace pyptox::agent
