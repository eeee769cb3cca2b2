#include "agent/steps/case_manifest.h"

#include <gtest/gtest.h>

#include "base/message_json.h"

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

}  // namespace
}  // namespace pyptox::agent
