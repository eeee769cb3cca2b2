#include "backends/cpu/cpu_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyptox::backends {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Plan PlanFor(const char* target, const FactMap& facts, const v1::KernelStep& kernel = {}) {
  PlanRequest request;
  request.target = FindTarget(target);
  request.facts = &facts;
  request.kernel = &kernel;
  request.runner_dir = "/opt/pyptox";
  return CpuBackend().MakePlan(request);
}

FactMap Bare() {
  return {{"architecture", "x86_64"}, {"virtualization", "none"}, {"cpu_flags", "fpu avx avx2 f16c avx512f"}};
}

TEST(CpuBackend, RunsTheRunnerItself) {
  const Plan plan = PlanFor("x86-avx2", Bare());
  EXPECT_FALSE(plan.refused.has_value());
  EXPECT_EQ(plan.evidence_class, v1::EVIDENCE_CLASS_NATIVE);
  EXPECT_THAT(plan.runner_argv, ElementsAre("/opt/pyptox/pyptox-runner"));
  EXPECT_THAT(plan.env, IsEmpty());
}

TEST(CpuBackend, AGuestIsNotNativeAndNeitherIsAnUnknownHost) {
  for (const char* kind : {"kvm", "wsl", "other", "unknown", ""}) {
    FactMap facts = Bare();
    facts["virtualization"] = kind;
    EXPECT_EQ(PlanFor("cpu-scalar", facts).evidence_class, v1::EVIDENCE_CLASS_VIRTUALIZED) << kind;
  }
  FactMap facts = Bare();
  facts.erase("virtualization");
  EXPECT_EQ(PlanFor("cpu-scalar", facts).evidence_class, v1::EVIDENCE_CLASS_VIRTUALIZED);
}

TEST(CpuBackend, AMissingFeatureBlocksAndIsNamed) {
  // avx512f alone is there: each of the others is needed too, and a name is not found inside another.
  const Plan plan = PlanFor("x86-avx512", Bare());
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_EQ(plan.refused->verdict(), v1::VERDICT_BLOCKED_DEVICE);
  EXPECT_EQ(plan.refused->kind(), "cpu_feature");
  EXPECT_EQ(plan.refused->reason(), "x86-avx512 needs the CPU feature avx512bw, which this processor lacks");
  FactMap facts = Bare();
  facts["cpu_flags"] = "avx2x xavx2 f16c";
  EXPECT_TRUE(PlanFor("x86-avx2", facts).refused.has_value());
  facts["cpu_flags"] = "f16c avx2";
  EXPECT_FALSE(PlanFor("x86-avx2", facts).refused.has_value());
}

TEST(CpuBackend, AnotherMachineBlocks) {
  const Plan plan = PlanFor("aarch64-sve256", Bare());
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_EQ(plan.refused->kind(), "machine");
  EXPECT_EQ(plan.refused->reason(), "aarch64-sve256 needs a aarch64 machine, this one is x86_64");
  EXPECT_EQ(PlanFor("cpu-scalar", {}).refused->reason(), "cpu-scalar needs a x86_64 machine, this one is unknown");
}

TEST(CpuBackend, AnEmulatorsSettingMakesNoSenseHere) {
  v1::KernelStep kernel;
  kernel.set_qemu_cpu("max");
  const Plan plan = PlanFor("cpu-scalar", Bare(), kernel);
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_EQ(plan.refused->verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(plan.refused->kind(), "suite");
}

}  // namespace
}  // namespace pyptox::backends
