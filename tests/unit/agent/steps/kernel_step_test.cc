#include "agent/steps/kernel_step.h"

#include <gmock/gmock.h>

#include "tests/unit/agent/steps/attempt_bench.h"

namespace pyptox::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kKernels[] = R"(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pyptox_kernel.h"
int32_t twice(const pyptox_launch* launch) {
  const int32_t* in = launch->buffers[0].data;
  int32_t* out = launch->buffers[1].data;
  for (uint64_t i = 0; i < launch->buffers[1].bytes / 4; ++i) out[i] = 2 * in[i];
  return PYPTOX_DONE;
}
int32_t refuse(const pyptox_launch* launch) { (void)launch; return PYPTOX_REFUSED_INDEX; }
int32_t crash(const pyptox_launch* launch) { (void)launch; abort(); }
int32_t overrun(const pyptox_launch* launch) {
  twice(launch);
  ((char*)launch->buffers[1].data)[launch->buffers[1].bytes] ^= 1;
  return PYPTOX_DONE;
}
int32_t forge(const pyptox_launch* launch) {
  memset(launch->buffers[1].data, 7, launch->buffers[1].bytes);
  FILE* golden = fopen("src/golden/twice.bin", "wb");
  for (int i = 0; i < 16; ++i) fputc(7, golden);
  fclose(golden);
  return PYPTOX_DONE;
}
)";

const std::string kTwice("\0\0\0\0\2\0\0\0\4\0\0\0\6\0\0\0", 16);

class KernelStepTest : public AttemptBench {
 protected:
  KernelStepTest() {
    Source("kernels.c", kKernels);
    const auto header = ReadFile(Environment("PYPTOX_SOURCE_DIR", ".") + "/backends/runner/pyptox_kernel.h", 1 << 20);
    EXPECT_TRUE(header.ok()) << header.status();
    Source("pyptox_kernel.h", *header);
    Compile({"cc", "-shared", "-fPIC", "-o", "build/kernels.so", "src/kernels.c"}, {"build/kernels.so"});
    lane().mutable_kernel()->set_module("build/kernels.so");
  }
  v1::Case& AddCase(const std::string& name, const std::string& kernel, const std::string& golden) {
    v1::Case& one = *suite().add_cases();
    one.set_name(name);
    one.set_kernel(kernel);
    v1::Buffer& in = *one.add_buffers();
    in.set_name("in");
    in.set_role(v1::ROLE_IN);
    in.set_dtype(v1::DTYPE_I32);
    in.add_shape(4);
    in.mutable_generate()->set_kind(v1::GENERATE_KIND_IOTA);
    v1::Buffer& out = *one.add_buffers();
    out.set_name("out");
    out.set_role(v1::ROLE_OUT);
    out.set_dtype(v1::DTYPE_I32);
    out.add_shape(4);
    if (!golden.empty()) out.mutable_golden()->set_path(golden);
    suite().set_planned(static_cast<uint32_t>(suite().cases_size()));
    return one;
  }
};

TEST_F(KernelStepTest, ACompiledKernelPasses) {
  Golden("golden/twice.bin", kTwice);
  AddCase("twice", "twice", "golden/twice.bin");
  AddCase("refused", "refuse", "").set_expect_status(2);
  Run();
  ASSERT_EQ(Verdict(), "PASS") << evidence_.outcome().reason() << Log();
  EXPECT_EQ(Cases(), "twice=PASS refused=PASS");
  const v1::CaseResult& first = evidence_.cases(0);
  EXPECT_THAT(first.golden_sha256(), ElementsAre(Sha256Of(kTwice).Hex()));
  EXPECT_EQ(first.launch().launches(), 3u);
  EXPECT_EQ(first.launch().outputs(0).sha256(), Sha256Of(kTwice).Hex());
  EXPECT_EQ(evidence_.cleanup(), "ptrace");
  EXPECT_EQ(evidence_.file_access(), "ptrace");
  EXPECT_TRUE(evidence_.not_covered().empty()) << evidence_.not_covered(0);
  EXPECT_FALSE(evidence_.facts_start().empty());
  EXPECT_EQ(evidence_.facts_start_size(), evidence_.facts_end_size());
  EXPECT_EQ(began_, 1);
  EXPECT_THAT(steps_seen_, Contains("kernel"));

  ASSERT_EQ(evidence_.steps_size(), 2);
  EXPECT_EQ(evidence_.steps(0).name(), "compile 1");
  EXPECT_EQ(evidence_.steps(1).kind(), v1::STEP_KIND_KERNEL);
  EXPECT_EQ(evidence_.steps(1).argv(2), "kernel/twice/result.json");
  std::map<std::string, std::string> compiled, launched;
  for (const v1::OpenedFile& file : evidence_.steps(0).opened()) compiled[file.path()] = file.sha256();
  for (const v1::OpenedFile& file : evidence_.steps(1).opened()) {
    launched[file.path()] = file.sha256();
    EXPECT_FALSE(file.outside()) << file.path();
  }
  EXPECT_EQ(compiled["src/kernels.c"], Sha256Of(std::string_view(kKernels)).Hex());
  EXPECT_TRUE(compiled.contains("src/pyptox_kernel.h"));
  EXPECT_EQ(launched["src/golden/twice.bin"], Sha256Of(kTwice).Hex());
  EXPECT_TRUE(launched.contains("build/kernels.so"));
  EXPECT_TRUE(launched.contains(settings_.runner_dir + "/pyptox-runner"));

  ASSERT_EQ(evidence_.toolchains_size(), 1);
  EXPECT_EQ(evidence_.toolchains(0).name(), "cc");
  EXPECT_THAT(Artifacts(), ElementsAre("build/kernels.so", "log/output.log"));
  EXPECT_EQ(uploaded_.size(), 2u);
  EXPECT_THAT(Log(), HasSubstr("[pyptox: case twice: PASS]\n"));
  EXPECT_EQ(log_size_, Log().size());
  EXPECT_EQ(evidence_.log_bytes(), Log().size());
}

TEST_F(KernelStepTest, OneFlippedBitFailsThatCaseAlone) {
  std::string flipped = kTwice;
  flipped[4] = 3;
  Golden("golden/twice.bin", kTwice);
  Golden("golden/flipped.bin", flipped);
  AddCase("good", "twice", "golden/twice.bin");
  AddCase("bad", "twice", "golden/flipped.bin");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(cases)");
  EXPECT_EQ(Cases(), "good=PASS bad=MISMATCH");
  const v1::Comparison& comparison = evidence_.cases(1).launch().outputs(0).comparison();
  EXPECT_EQ(comparison.different(), 1u);
  EXPECT_EQ(comparison.first().index(), 1u);
  EXPECT_EQ(comparison.first().expected_hex(), "0x00000003");
  EXPECT_EQ(comparison.first().actual_hex(), "0x00000002");
  // What explains a failure is kept.
  EXPECT_EQ(Artifact("kernel/bad/out/out.bin"), kTwice);
  EXPECT_THAT(Artifacts(), Contains("kernel/bad/result.json"));
  EXPECT_THAT(Artifacts(), Contains("kernel/bad/manifest.json"));
  EXPECT_THAT(Artifacts(), Not(Contains("kernel/good/out/out.bin")));
}

TEST_F(KernelStepTest, EachFaultHasItsOwnOutcome) {
  Golden("golden/twice.bin", kTwice);
  Golden("golden/short.bin", kTwice.substr(0, 12));
  AddCase("crash", "crash", "golden/twice.bin");
  AddCase("overrun", "overrun", "golden/twice.bin");
  AddCase("absent", "no_such_symbol", "golden/twice.bin");
  AddCase("short", "twice", "golden/short.bin");
  AddCase("status", "refuse", "golden/twice.bin");
  Run();
  EXPECT_EQ(Cases(), "crash=CRASH overrun=OUT_OF_BOUNDS absent=NO_SYMBOL short=BAD_FILE status=WRONG_STATUS");
  EXPECT_EQ(Verdict(), "FAIL(cases)");
}

TEST_F(KernelStepTest, AGoldenWithoutItsPinCanNotPass) {
  Source("golden/unpinned.bin", kTwice);
  Source("golden/stale.bin", kTwice);
  std::string other = kTwice;
  other[0] = 1;
  Source("golden/different.bin", other);
  pins_ = Sha256Of(std::string_view("an older golden")).Hex() + "  golden/stale.bin\n";
  AddCase("unpinned", "twice", "golden/unpinned.bin");
  AddCase("stale", "twice", "golden/stale.bin");
  AddCase("different", "twice", "golden/different.bin");
  Run();
  EXPECT_EQ(Cases(), "unpinned=UNPINNED_GOLDEN stale=UNPINNED_GOLDEN different=MISMATCH");
  EXPECT_EQ(Verdict(), "FAIL(cases)");
  EXPECT_THAT(evidence_.cases(0).reason(), HasSubstr("golden/unpinned.bin is not pinned"));
  EXPECT_THAT(evidence_.cases(1).reason(), HasSubstr("pinned is"));
  EXPECT_THAT(evidence_.cases(2).reason(), HasSubstr("is not pinned"));
}

TEST_F(KernelStepTest, AKernelThatForgesItsGoldenIsSeen) {
  Golden("golden/twice.bin", kTwice);
  AddCase("forge", "forge", "golden/twice.bin");
  Run();
  EXPECT_EQ(Cases(), "forge=BAD_FILE");
  EXPECT_THAT(evidence_.cases(0).reason(), HasSubstr("golden/twice.bin was changed by a step"));
}

TEST_F(KernelStepTest, PackedRegionsAreHashedFromTheirOffset) {
  Golden("golden/packed.bin", "head" + kTwice + "tail");
  v1::Case& one = AddCase("packed", "twice", "golden/packed.bin");
  one.mutable_buffers(1)->mutable_golden()->set_packed(true);
  one.mutable_buffers(1)->mutable_golden()->set_offset(4);
  Run();
  EXPECT_EQ(Cases(), "packed=PASS") << evidence_.cases(0).reason();
}

TEST_F(KernelStepTest, SkippedAndUnwantedCases) {
  Golden("golden/twice.bin", kTwice);
  AddCase("one", "twice", "golden/twice.bin");
  AddCase("two", "twice", "golden/twice.bin");
  AddCase("three", "crash", "golden/twice.bin");
  v1::Skip& skip = *lane().add_skip();
  skip.set_case_("th*");
  skip.set_reason("not on this target");
  Run();
  EXPECT_EQ(Verdict(), "PASS");
  EXPECT_EQ(Cases(), "one=PASS two=PASS three=SKIPPED");
  EXPECT_THAT(evidence_.not_covered(), ElementsAre("case three is left out: not on this target"));

  assign_.mutable_spec()->add_cases("two");
  Run();
  EXPECT_EQ(Verdict(), "PASS");
  EXPECT_EQ(Cases(), "two=PASS");
  assign_.mutable_spec()->set_cases(0, "three");
  Run();
  EXPECT_EQ(Verdict(), "NO_VERDICT(planned)");
}

TEST_F(KernelStepTest, ABlockedDeviceRunsNothing) {
  AddCase("one", "twice", "golden/twice.bin");
  AddCase("two", "twice", "golden/twice.bin");
  assign_.set_resource("fake");
  v1::Fact fact;
  fact.set_key("fake");
  fact.set_value("blocked");
  extra_facts_ = {fact};
  Run();
  EXPECT_EQ(Verdict(), "BLOCKED_DEVICE(fake)");
  EXPECT_EQ(Cases(), "one=BLOCKED_DEVICE two=BLOCKED_DEVICE");
  EXPECT_EQ(evidence_.steps_size(), 0);
  EXPECT_EQ(evidence_.evidence_class(), v1::EVIDENCE_CLASS_SIMULATED);
}

TEST_F(KernelStepTest, ARunnerThatLiesIsNotBelieved) {
  Golden("golden/twice.bin", kTwice);
  AddCase("lie", "twice", "golden/twice.bin");
  settings_.runner_dir = folder_ + "/liar";
  ASSERT_TRUE(MakeFolders(settings_.runner_dir).ok());
  const std::string runner = settings_.runner_dir + "/pyptox-runner";
  const auto lie = [&](const std::string& script) {
    ASSERT_TRUE(WriteFileAtomically(runner, "#!/bin/sh\nout=${1%/manifest.json}/out/out.bin\n" + script, 0700).ok());
    Run();
  };
  lie("printf wrong >$out; printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":3}' >$2");
  EXPECT_EQ(Cases(), "lie=INFRA");
  EXPECT_THAT(evidence_.cases(0).reason(), HasSubstr("the runner says PASS, but output out has 5 bytes instead of 16"));
  EXPECT_EQ(Verdict(), "INFRA(cases)");
  lie("printf sixteen.bytes... >$out; printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":3}' >$2");
  EXPECT_THAT(evidence_.cases(0).reason(), HasSubstr("the runner says PASS, but output out has the digest"));
  lie("cp src/golden/twice.bin $out; printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":1}' >$2");
  EXPECT_EQ(Cases(), "lie=INFRA");
  lie("printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":3}' >$2");
  EXPECT_EQ(Cases(), "lie=INFRA");
  lie("cp src/golden/twice.bin $out; printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":3' >$2");
  EXPECT_EQ(Cases(), "lie=INFRA");
  lie("cp src/golden/twice.bin $out; printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":3,\"x\":1}' >$2");
  EXPECT_EQ(Cases(), "lie=INFRA");
  lie("exit 0");
  EXPECT_EQ(Cases(), "lie=INFRA");
  lie("cp src/golden/twice.bin $out; printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":3}' >$2; exit 70");
  EXPECT_EQ(Cases(), "lie=INFRA");
  lie("cp src/golden/twice.bin $out; printf '{\"outcome\":\"CASE_OUTCOME_SKIPPED\",\"launches\":3}' >$2");
  EXPECT_EQ(Cases(), "lie=INFRA");
  lie("cp src/golden/twice.bin $out; printf '{\"outcome\":\"CASE_OUTCOME_PASS\",\"launches\":3}' >$2");
  EXPECT_EQ(Cases(), "lie=PASS") << "the liar tells the truth for once";
}

TEST_F(KernelStepTest, HostileNamesAreRefused) {
  AddCase("../../escape", "twice", "golden/twice.bin");
  Run();
  EXPECT_EQ(Verdict(), "INFRA(spec)");
}

}  // namespace
}  // namespace pyptox::agent
