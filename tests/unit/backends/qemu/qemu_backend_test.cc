#include "backends/qemu/qemu_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyptox::backends {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Plan PlanFor(const char* target, const FactMap& facts, const char* cpu = "max,sve256=on") {
  v1::KernelStep kernel;
  kernel.set_qemu_cpu(cpu);
  PlanRequest request;
  request.target = FindTarget(target);
  request.facts = &facts;
  request.kernel = &kernel;
  request.runner_dir = "/opt/pyptox";
  return QemuBackend().MakePlan(request);
}

FactMap Installed() {
  return {{"qemu_aarch64", "qemu-aarch64 version 7.2.0"}, {"aarch64_loader", "/lib/ld-linux-aarch64.so.1"}};
}

TEST(QemuBackend, RunsTheOtherMachinesRunner) {
  const Plan plan = PlanFor("aarch64-sve256", Installed());
  ASSERT_FALSE(plan.refused.has_value());
  EXPECT_EQ(plan.evidence_class, v1::EVIDENCE_CLASS_EMULATED);
  EXPECT_THAT(plan.runner_argv, ElementsAre("qemu-aarch64", "/opt/pyptox/aarch64/pyptox-runner"));
  EXPECT_THAT(plan.env, ElementsAre(Pair("QEMU_CPU", "max,sve256=on")));
  EXPECT_THAT(plan.not_covered, Contains(HasSubstr("speed")));
  EXPECT_THAT(plan.not_covered, Contains(HasSubstr("Kunpeng 920B")));
}

TEST(QemuBackend, ALoaderElsewhereIsNamed) {
  FactMap facts = Installed();
  facts["aarch64_loader"] = "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1";
  EXPECT_THAT(PlanFor("aarch64-sve256", facts, "").runner_argv,
              ElementsAre("qemu-aarch64", "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1", "--library-path",
                          "/usr/aarch64-linux-gnu/lib", "/opt/pyptox/aarch64/pyptox-runner"));
  EXPECT_THAT(PlanFor("aarch64-sve256", facts, "").env, IsEmpty());
}

TEST(QemuBackend, WhatIsNotInstalledBlocks) {
  for (const char* key : {"qemu_aarch64", "aarch64_loader"}) {
    FactMap facts = Installed();
    facts[key] = "absent";
    const Plan plan = PlanFor("aarch64-sve256", facts);
    ASSERT_TRUE(plan.refused.has_value()) << key;
    EXPECT_EQ(plan.refused->verdict(), v1::VERDICT_BLOCKED_DEVICE);
    EXPECT_EQ(plan.refused->kind(), "emulator");
  }
}

// A native program's success must not stand under an aarch64 target.
TEST(QemuBackend, AProgramRunsUnderTheEmulatorOrNotAtAll) {
  const FactMap facts = Installed();
  v1::RunStep run;
  PlanRequest request;
  request.target = FindTarget("aarch64-sve256");
  request.facts = &facts;
  request.run = &run;
  for (const char* program : {"build/tests", "sh", "src/qemu-aarch64"}) {
    run.clear_argv();
    run.add_argv(program);
    const Plan plan = QemuBackend().MakePlan(request);
    ASSERT_TRUE(plan.refused.has_value()) << program;
    EXPECT_EQ(plan.refused->verdict(), v1::VERDICT_NO_VERDICT);
    EXPECT_EQ(plan.refused->kind(), "suite");
    EXPECT_THAT(plan.refused->reason(), HasSubstr(std::string("run.argv[0]: '") + program + "'"));
  }
  run.set_argv(0, "qemu-aarch64");
  EXPECT_FALSE(QemuBackend().MakePlan(request).refused.has_value());
}

TEST(QemuBackend, CodeOfThisMachineIsNotForIt) {
  const Plan plan = PlanFor("x86-avx2", Installed());
  ASSERT_TRUE(plan.refused.has_value());
  EXPECT_EQ(plan.refused->kind(), "machine");
  // Emulated stays emulated even where nothing runs.
  EXPECT_EQ(plan.evidence_class, v1::EVIDENCE_CLASS_EMULATED);
}

}  // namespace
}  // namespace pyptox::backends
