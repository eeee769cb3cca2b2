#include "agent/steps/run_step.h"

#include <gmock/gmock.h>

#include "tests/unit/agent/steps/attempt_bench.h"

namespace pyptox::agent {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class RunStepTest : public AttemptBench {
 protected:
  void Script(const std::string& script) {
    v1::RunStep& run = *lane().mutable_run();
    run.clear_argv();
    run.add_argv("sh");
    run.add_argv("-c");
    run.add_argv(script);
  }
  void Report(v1::ReportFormat format, uint32_t planned) {
    v1::ReportStep& report = *lane().mutable_run()->mutable_report();
    report.set_format(format);
    report.set_file("build/report");
    report.set_planned(planned);
  }
  v1::CompareStep& Compare(const std::string& output, const std::string& golden) {
    v1::CompareStep& compare = *lane().mutable_run()->add_compare();
    compare.set_output(output);
    compare.set_golden(golden);
    compare.set_dtype(v1::DTYPE_I32);
    compare.add_shape(2);
    return compare;
  }
  std::string VerdictOf(const std::string& script) {
    Script(script);
    Run();
    return Verdict();
  }
};

TEST_F(RunStepTest, AReportAndTheExitStatusMustAgree) {
  Report(v1::REPORT_FORMAT_TAP, 2);
  const std::string pass = "printf 'TAP version 13\\n1..2\\nok 1 - a\\nok 2 - b\\n' >build/report";
  const std::string fail = "printf 'TAP version 13\\n1..2\\nok 1 - a\\nnot ok 2 - b\\n' >build/report";
  EXPECT_EQ(VerdictOf(pass), "PASS");
  EXPECT_EQ(Cases(), "a=PASS b=PASS");
  EXPECT_THAT(Artifacts(), Contains("build/report"));
  EXPECT_EQ(VerdictOf(fail + "; exit 1"), "FAIL(cases)");
  EXPECT_EQ(Cases(), "a=PASS b=FAILED");
  EXPECT_EQ(VerdictOf(fail), "INFRA(report_disagrees)");
  EXPECT_EQ(VerdictOf(pass + "; exit 1"), "INFRA(report_disagrees)");
  EXPECT_EQ(VerdictOf("printf 'TAP version 13\\n1..1\\nok 1 - a\\n' >build/report"), "NO_VERDICT(planned)");
  EXPECT_EQ(VerdictOf(": >build/report"), "INFRA(report)");
  EXPECT_EQ(VerdictOf("true"), "INFRA(report)");
  EXPECT_EQ(VerdictOf("mkfifo build/report"), "INFRA(report)");
  EXPECT_EQ(VerdictOf("printf 'TAP version 13\\n1..2\\nok 1 - a' >build/report"), "INFRA(report)");
  EXPECT_EQ(VerdictOf(pass + "; kill -ABRT $$"), "FAIL(run)");
  EXPECT_THAT(evidence_.outcome().reason(), HasSubstr("signal 6"));
}

TEST_F(RunStepTest, AReportThatWasThereBeforeIsNotRead) {
  CompileScript("printf 'TAP version 13\\n1..1\\nok 1 - a\\n' >build/report; echo x >build/out");
  Report(v1::REPORT_FORMAT_TAP, 1);
  EXPECT_EQ(VerdictOf("true"), "INFRA(report)");
  EXPECT_EQ(evidence_.outcome().reason(), "build/report is there before the step");
}

TEST_F(RunStepTest, AFileWhoseNameIsNoUtf8LosesNothing) {
  CompileScript("echo old >build/$(printf 'a\\377'); echo x >build/out");
  Report(v1::REPORT_FORMAT_TAP, 1);
  EXPECT_EQ(VerdictOf("cat build/a*; printf '1..1\\nok 1 - a\\n' >build/report"), "PASS")
      << evidence_.outcome().reason();
  bool seen = false;
  for (const v1::OpenedFile& file : evidence_.steps(1).opened()) seen = seen || file.path() == "build/a\xef\xbf\xbd";
  EXPECT_TRUE(seen);
}

TEST_F(RunStepTest, CoverageAndSkipsLimitAPass) {
  Report(v1::REPORT_FORMAT_TAP, 2);
  v1::CoverageCounter& counter = *lane().mutable_run()->mutable_report()->add_coverage();
  counter.set_name("operations");
  counter.set_of(4532);
  EXPECT_EQ(VerdictOf("printf 'TAP version 13\\n1..2\\nok 1 - a\\nok 2 - b # SKIP no device\\n# operations 4500\\n' "
                      ">build/report"),
            "PASS");
  EXPECT_EQ(Cases(), "a=PASS b=SKIPPED");
  EXPECT_EQ(evidence_.coverage(0).value(), 4500u);
  EXPECT_EQ(evidence_.not_covered_size(), 2);
}

TEST_F(RunStepTest, ComparesWhatTheProgramMade) {
  const std::string golden("\1\0\0\0\2\0\0\0", 8);
  Golden("golden/g.bin", golden);
  Compare("build/made", "golden/g.bin");
  EXPECT_EQ(VerdictOf("printf '\\1\\0\\0\\0\\2\\0\\0\\0' >build/made"), "PASS");
  EXPECT_EQ(Cases(), "compare:build/made=PASS");
  EXPECT_EQ(evidence_.cases(0).golden_sha256(0), Sha256Of(golden).Hex());

  EXPECT_EQ(VerdictOf("printf '\\1\\0\\0\\0\\3\\0\\0\\0' >build/made"), "FAIL(cases)");
  EXPECT_EQ(Cases(), "compare:build/made=MISMATCH");
  EXPECT_EQ(evidence_.cases(0).reason(),
            "build/made differs from golden/g.bin: 1 of 2 elements, first at 1: 0x00000003 (3) instead of 0x00000002 "
            "(2)");
  EXPECT_THAT(Artifacts(), Contains("build/made"));
  EXPECT_EQ(VerdictOf("printf '\\1' >build/made"), "FAIL(cases)");
  EXPECT_THAT(evidence_.cases(0).reason(), HasSubstr("1 bytes instead of 8"));
  EXPECT_EQ(VerdictOf("true"), "FAIL(cases)");
  EXPECT_EQ(Cases(), "compare:build/made=FAILED");
  EXPECT_EQ(VerdictOf("ln -s ../src/golden/g.bin build/made"), "FAIL(cases)");
  EXPECT_EQ(evidence_.not_covered_size(), 0);
  EXPECT_EQ(VerdictOf("cp src/golden/g.bin build/made"), "PASS");
  EXPECT_THAT(evidence_.not_covered(),
              Contains("a step opened golden/g.bin, with which build/made is compared: it may be a copy"));
  EXPECT_EQ(VerdictOf("cp src/golden/g.bin build/made; exit 1"), "FAIL(run)");
  EXPECT_EQ(VerdictOf("printf 12345678 >build/made; cp build/made src/golden/g.bin"), "FAIL(cases)");
  EXPECT_EQ(Cases(), "compare:build/made=BAD_FILE");
  pins_.clear();
  sources_.erase("golden.sha256");
  EXPECT_EQ(VerdictOf("cp src/golden/g.bin build/made"), "FAIL(cases)");
  EXPECT_EQ(Cases(), "compare:build/made=UNPINNED_GOLDEN");
}

// Equal to a golden that is not what the suite says: no PASS.
TEST_F(RunStepTest, AGoldenHasTheLengthOfItsShape) {
  const struct {
    std::string bytes;
    v1::DType dtype;
    std::vector<uint64_t> shape;
    std::string cases;
  } table[] = {
      {"12345678", v1::DTYPE_I32, {2}, "PASS"},
      {"12345678", v1::DTYPE_I32, {2, 2}, "BAD_FILE"},
      {"12345678", v1::DTYPE_I64, {2}, "BAD_FILE"},
      {"1234567", v1::DTYPE_I32, {2}, "BAD_FILE"},
      {"1234567", v1::DTYPE_I32, {}, "BAD_FILE"},
      {"1234567", v1::DTYPE_U8, {}, "PASS"},
      {"12345678", v1::DTYPE_U8, {uint64_t{1} << 63, 2, 8}, "BAD_FILE"},
      {"", v1::DTYPE_I32, {4, 4}, "BAD_FILE"},
      {"", v1::DTYPE_I32, {}, "BAD_FILE"},
      {"", v1::DTYPE_I32, {4, 0}, "PASS"},
      {"", v1::DTYPE_U8, {uint64_t{1} << 32, uint64_t{1} << 32}, "BAD_FILE"},
      {"\1", v1::DTYPE_BOOL, {1}, "PASS"},
      {"\2", v1::DTYPE_BOOL, {1}, "MISMATCH"},
  };
  for (const auto& row : table) {
    pins_.clear();
    Golden("golden/g.bin", row.bytes);
    lane().mutable_run()->clear_compare();
    v1::CompareStep& compare = Compare("build/made", "golden/g.bin");
    compare.set_dtype(row.dtype);
    *compare.mutable_shape() = {row.shape.begin(), row.shape.end()};
    VerdictOf("cp src/golden/g.bin build/made");
    EXPECT_EQ(Cases(), "compare:build/made=" + row.cases) << row.bytes << ": " << evidence_.cases(0).reason();
  }
}

TEST_F(RunStepTest, ACaseOfTheReportIsNoComparison) {
  Golden("golden/g.bin", "12345678");
  Compare("build/made", "golden/g.bin");
  Report(v1::REPORT_FORMAT_TAP, 1);
  EXPECT_EQ(VerdictOf("cp src/golden/g.bin build/made; printf '1..1\\nok 1 - compare:build/made\\n' >build/report"),
            "INFRA(report)");
  EXPECT_EQ(evidence_.outcome().reason(),
            "build/report has a case compare:build/made, which is the name of a comparison");
}

TEST_F(RunStepTest, ReportAndCompareTogether) {
  Golden("golden/g.bin", "12345678");
  Compare("build/made", "golden/g.bin");
  Report(v1::REPORT_FORMAT_TAP, 1);
  const std::string report = "printf 'TAP version 13\\n1..1\\nok 1 - a\\n' >build/report; ";
  EXPECT_EQ(VerdictOf(report + "printf 12345678 >build/made"), "PASS");
  EXPECT_EQ(Cases(), "a=PASS compare:build/made=PASS");
  EXPECT_EQ(VerdictOf(report + "printf 12345679 >build/made"), "FAIL(cases)");
}

TEST_F(RunStepTest, ProgramsThatAreNotThere) {
  lane().mutable_run()->add_argv("no-such-program");
  Report(v1::REPORT_FORMAT_TAP, 1);
  Run();
  EXPECT_EQ(Verdict(), "BLOCKED_TOOLCHAIN(absent)");
  lane().mutable_run()->set_argv(0, "src/absent");
  Run();
  EXPECT_EQ(Verdict(), "BLOCKED_TOOLCHAIN(absent)");
}

TEST_F(RunStepTest, AProgramThatIsNoneIsTheSuitesFault) {
  Source("tool",
         "\x7f"
         "ELF and nothing more",
         true);
  lane().mutable_run()->add_argv("src/tool");
  Report(v1::REPORT_FORMAT_TAP, 1);
  Run();
  EXPECT_EQ(Verdict(), "FAIL(start)");
  EXPECT_THAT(evidence_.outcome().reason(), HasSubstr("src/tool: Exec format error"));
}

// Nothing reads a file of a terabyte: it would take an hour, past every limit.
TEST_F(RunStepTest, HugeFilesAreNotRead) {
  Golden("golden/g.bin", "12345678");
  Compare("build/made", "golden/g.bin");
  EXPECT_EQ(VerdictOf("truncate -s 1T build/made build/other && head -c 1 build/other"), "FAIL(cases)");
  EXPECT_THAT(evidence_.cases(0).reason(), HasSubstr("1099511627776 bytes instead of 8"));
  EXPECT_THAT(evidence_.not_covered(), Contains("run: 1 opened files are not listed"));
  EXPECT_EQ(VerdictOf("cp src/golden/g.bin build/made; truncate -s 1T src/golden/g.bin"), "FAIL(cases)");
  EXPECT_EQ(evidence_.cases(0).reason(), "golden/g.bin was changed by a step");
}

TEST_F(RunStepTest, APassWithoutItsLogIsNone) {
  Report(v1::REPORT_FORMAT_TAP, 1);
  const std::string report = "printf '1..1\\nok 1\\n' >build/report; echo said; ";
  for (const char* harm : {"rm log/output.log", ": >log/output.log", "printf x | dd conv=notrunc of=log/output.log"}) {
    EXPECT_EQ(VerdictOf(report + harm), "INFRA(log)") << harm;
    EXPECT_EQ(evidence_.outcome().reason(), "a step removed or changed the attempt's log");
  }
}

TEST_F(RunStepTest, FilesThatAreNotKeptAreNamed) {
  Report(v1::REPORT_FORMAT_TAP, 1);
  EXPECT_EQ(VerdictOf("cd artifacts; for i in $(seq 1003); do : >$i; done; ln -s 1 link; : >$(printf 'b\\377'); cd ..; "
                      "printf '1..1\\nok 1\\n' >build/report"),
            "PASS");
  EXPECT_THAT(Log(),
              HasSubstr("[pyptox: 5 files below artifacts are not kept: links, names that are not UTF-8, or more "
                        "than 1000]\n"));
}

TEST_F(RunStepTest, AProgramOfTheSuiteIsNotAskedForItsVersion) {
  Source("tool.sh", "#!/bin/sh\nprintf 'TAP version 13\\n1..1\\nok 1 - %s\\n' \"$#\" >build/report\n", true);
  lane().mutable_run()->add_argv("src/tool.sh");
  Report(v1::REPORT_FORMAT_TAP, 1);
  Run();
  EXPECT_EQ(Verdict(), "PASS") << evidence_.outcome().reason();
  EXPECT_EQ(Cases(), "0=PASS");
  EXPECT_TRUE(evidence_.toolchains().empty());
}

TEST_F(RunStepTest, AGigabyteOfOutputIsCapped) {
  Report(v1::REPORT_FORMAT_TAP, 1);
  EXPECT_EQ(VerdictOf("head -c 1073741824 /dev/zero; printf 'TAP version 13\\n1..1\\nok 1 - a\\n' >build/report"),
            "PASS");
  EXPECT_GT(evidence_.log_bytes(), 1u << 30);
  EXPECT_EQ(evidence_.log_bytes_kept(), 64u << 20);
  EXPECT_THAT(Log().substr(0, 200), HasSubstr("[pyptox: run: sh -c head"));
  EXPECT_TRUE(Log().ends_with("[pyptox: ended: PASS]\n"));
}

}  // namespace
}  // namespace pyptox::agent
