#include "agent/steps/build_steps.h"

#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "tests/unit/agent/steps/attempt_bench.h"

namespace pyptox::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Compiles and checks; the program that runs afterwards always succeeds with one TAP case.
class BuildStepsTest : public AttemptBench {
 protected:
  BuildStepsTest() {
    lane().mutable_run()->add_argv("sh");
    lane().mutable_run()->add_argv("-c");
    lane().mutable_run()->add_argv("printf 'TAP version 13\\n1..1\\nok 1 - fine\\n' >report.tap");
    lane().mutable_run()->mutable_report()->set_format(v1::REPORT_FORMAT_TAP);
    lane().mutable_run()->mutable_report()->set_file("report.tap");
    lane().mutable_run()->mutable_report()->set_planned(1);
  }
  v1::CheckStep& Check(const std::string& file) {
    v1::CheckStep& step = *lane().add_checks();
    step.set_file(file);
    return step;
  }
};

TEST_F(BuildStepsTest, EnvironmentIsWhatIsDocumentedAndDeclared) {
  v1::CompileStep& step = CompileScript("env | sort; pwd; echo x >build/out; cat");
  v1::EnvVar* variable = step.add_env();
  variable->set_name("DECLARED");
  variable->set_value("a b");
  setenv("NOT_DECLARED", "leak", 1);
  Run();
  unsetenv("NOT_DECLARED");
  EXPECT_EQ(Verdict(), "PASS") << evidence_.outcome().reason();
  const std::string home = folder_ + "/attempts/7";
  EXPECT_THAT(
      Log(), HasSubstr("\nDECLARED=a b\nHOME=/home-of-steps\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nPWD=" +
                       home + "\nPYPTOX_ATTEMPT_DIR=" + home +
                       "\nPYPTOX_ATTEMPT_ID=7\nPYPTOX_JOB_ID=3\nPYPTOX_RESOURCE=dev\nTMPDIR=" + home + "/tmp\n" + home +
                       "\n"));
  EXPECT_EQ(evidence_.steps(0).env_size(), 1);
}

TEST_F(BuildStepsTest, AnAbsentCompilerBlocks) {
  Compile({"no-such-compiler", "-c", "x"}, {"build/out"});
  Run();
  EXPECT_EQ(Verdict(), "BLOCKED_TOOLCHAIN(absent)");
  EXPECT_THAT(evidence_.outcome().reason(), HasSubstr("no-such-compiler"));
  EXPECT_TRUE(evidence_.cases().empty());
  EXPECT_EQ(evidence_.steps(0).outcome().verdict(), v1::VERDICT_BLOCKED_TOOLCHAIN);
}

TEST_F(BuildStepsTest, FailuresOfACompileStep) {
  CompileScript("echo broken >&2; exit 3");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(compile)");
  EXPECT_EQ(evidence_.outcome().reason(), "compile 1 ended with exit status 3");
  EXPECT_EQ(evidence_.steps(0).exit_status(), 3);
  EXPECT_THAT(Log(), HasSubstr("broken\n"));
  const std::pair<const char*, const char*> scripts[] = {
      {"kill -SEGV $$", "FAIL(compile)"},
      {"true", "FAIL(no_output)"},
      {": >build/out", "FAIL(no_output)"},
      {"mkdir build/out", "FAIL(no_output)"},
      {"echo text >build/real; ln -s real build/out", "FAIL(no_output)"},
      {"mkfifo build/out", "FAIL(no_output)"},
      {"echo text >build/out", "PASS"},
  };
  for (const auto& [script, verdict] : scripts) {
    lane().mutable_compile(0)->set_argv(2, script);
    Run();
    EXPECT_EQ(Verdict(), verdict) << script;
  }
}

TEST_F(BuildStepsTest, AnOutputThatWasThereProvesNothing) {
  CompileScript("echo one >build/a; echo stale >build/b", "build/a");
  CompileScript("true", "build/b");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(no_output)");
  EXPECT_EQ(evidence_.outcome().reason(), "build/b is there before the step");
}

TEST_F(BuildStepsTest, ChecksOfAnElfFile) {
  Source("f.c", "int f(int x) { return x + 1; }\n");
  Compile({"cc", "-shared", "-fPIC", "-O2", "-o", "build/f.so", "src/f.c"}, {"build/f.so"});
  v1::CheckStep& check = Check("build/f.so");
  check.mutable_elf()->set_bits(64);
  for (const char* part : {"objdump", "-d", "--no-show-raw-insn", "build/f.so"}) check.add_disassemble(part);
  check.add_counts("insn > 0");
  check.add_counts("zmm = 0");
  Run();
  EXPECT_EQ(Verdict(), "PASS") << evidence_.outcome().reason();
  EXPECT_EQ(evidence_.steps(1).kind(), v1::STEP_KIND_CHECK);
  EXPECT_EQ(evidence_.toolchains_size(), 3);  // cc, objdump, sh

  check.set_counts(1, "zmm > 0");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(check)");
  EXPECT_THAT(evidence_.outcome().reason(), HasSubstr("zmm > 0"));
  check.set_counts(1, "not a condition at all");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(check)");
  check.mutable_counts()->RemoveLast();
  check.set_disassemble(0, "no-such-objdump");
  Run();
  EXPECT_EQ(Verdict(), "BLOCKED_TOOLCHAIN(absent)");
  check.set_disassemble(0, "false");
  Run();
  EXPECT_EQ(Verdict(), "INFRA(disassembly)");
  // Nothing was looked at, so nothing was found: no PASS for `zmm = 0`.
  check.set_disassemble(0, "true");
  *check.mutable_counts(0) = "zmm = 0";
  Run();
  EXPECT_EQ(Verdict(), "INFRA(disassembly)");
  EXPECT_EQ(evidence_.outcome().reason(), "true printed no instruction");
  check.mutable_elf()->set_bits(32);
  Run();
  EXPECT_EQ(Verdict(), "FAIL(check)");
  check.mutable_elf()->set_bits(64);
  check.mutable_elf()->set_machine("amdgpu");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(check)");
  check.set_file("src/f.c");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(check)");
  check.set_file("build/absent");
  Run();
  EXPECT_EQ(Verdict(), "FAIL(check)");
}

TEST_F(BuildStepsTest, AFileFromAnotherTreeIsMarked) {
  std::ofstream(folder_ + "/stale.c") << "int stale;\n";
  CompileScript("cat " + folder_ + "/stale.c >build/out");
  Run();
  EXPECT_EQ(Verdict(), "PASS");
  std::vector<std::string> outside;
  for (const v1::OpenedFile& file : evidence_.steps(0).opened()) {
    if (file.outside()) outside.push_back(file.path());
  }
  EXPECT_THAT(outside, ElementsAre(folder_ + "/stale.c"));
}

TEST_F(BuildStepsTest, LimitsAndCancel) {
  CompileScript("echo begun; exec sleep 1000");
  lane().mutable_limits()->set_silence_s(1);
  Run();
  EXPECT_EQ(Verdict(), "TIMEOUT(silence)");
  EXPECT_THAT(Log(), HasSubstr("begun\n"));
  lane().mutable_limits()->set_silence_s(600);
  lane().mutable_limits()->set_run_s(1);
  Run();
  EXPECT_EQ(Verdict(), "TIMEOUT(run)");
  lane().mutable_limits()->set_run_s(600);
  news_.log_grew = [this](uint64_t, uint64_t) { stop_.Request(); };
  Run();
  EXPECT_EQ(Verdict(), "CANCELLED");
  EXPECT_TRUE(evidence_.cases().empty());
}

TEST_F(BuildStepsTest, WhatIsLeftBehindIsKilledAndSaid) {
  CompileScript("(setsid sleep 1000 & ) ; echo x >build/out; sleep 0.2");
  Run();
  EXPECT_EQ(Verdict(), "PASS");
  EXPECT_THAT(evidence_.not_covered(), Contains("compile 1 left 1 processes behind, which were killed"));
}

TEST_F(BuildStepsTest, ArtifactsFolderIsKept) {
  CompileScript(
      "mkdir artifacts/deep; echo note >artifacts/deep/note.txt; ln -s /etc/passwd artifacts/link; "
      "echo x >build/out; chmod +x build/out");
  Run();
  EXPECT_THAT(Artifacts(), ElementsAre("build/out", "report.tap", "artifacts/deep/note.txt", "log/output.log"));
  EXPECT_EQ(Artifact("artifacts/deep/note.txt"), "note\n");
  EXPECT_TRUE(evidence_.artifacts(0).executable());
  EXPECT_FALSE(evidence_.artifacts(1).executable());
}

TEST_F(BuildStepsTest, WhatTheHostLacksIsNotTheCodesFault) {
  CompileScript("echo x >build/out");
  settings_.free_space_floor = ~0ull;
  Run();
  EXPECT_EQ(Verdict(), "INFRA(disk_full)");
  settings_.free_space_floor = 0;
  fetch_status_ = absl::ResourceExhaustedError("no space left");
  Run();
  EXPECT_EQ(Verdict(), "INFRA(disk_full)");
  fetch_status_ = absl::NotFoundError("the controller has no such artifact");
  Run();
  EXPECT_EQ(Verdict(), "INFRA(sources)");
  fetch_status_ = absl::OkStatus();
  Source("../escape", "x");
  Run();
  EXPECT_EQ(Verdict(), "INFRA(sources)");
  sources_.erase("../escape");
  assign_.set_resource("other");
  Run();
  EXPECT_EQ(Verdict(), "INFRA(resource)");
  assign_.mutable_spec()->set_lane("other");
  Run();
  EXPECT_EQ(Verdict(), "INFRA(spec)");
}

TEST_F(BuildStepsTest, ARecordFromASubreaperIsLimited) {
  CompileScript("echo x >build/out");
  settings_.mode = TreeMode::kSubreaper;
  Run();
  EXPECT_EQ(Verdict(), "PASS");
  EXPECT_EQ(evidence_.cleanup(), "subreaper");
  EXPECT_EQ(evidence_.file_access(), "unobserved");
  EXPECT_EQ(evidence_.not_covered_size(), 1);
  EXPECT_TRUE(evidence_.steps(0).opened().empty());
}

}  // namespace
}  // namespace pyptox::agent
