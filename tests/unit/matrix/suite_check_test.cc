#include "matrix/suite_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/file_io.h"
#include "base/text_message.h"

namespace pyptox::matrix {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What every fault of a count says (backends/inspect/count_condition.h).
const std::string kCountRule =
    ", with CLASS one of xmm ymm zmm sve-z sve-p neon insn op:MNEMONIC and OP one of = != > >= < <=";

constexpr char kValid[] = R"(
name: ops
contract: {name: ops, version: "1.0"}
sources: ["kernels/*.c", "golden/**", "inputs/*"]
golden_lock: golden.sha256
planned: 2
lanes:
  - name: cpu-scalar@dev
    target: cpu-scalar
    resource: {name: dev}
    compile:
      - {argv: [gcc, -shared, -o, build/k.so, src/kernels/k.c], env: [{name: A, value: b}], outputs: [build/k.so]}
    checks:
      - {file: build/k.so, elf: {bits: 64, machine: x86-64}, disassemble: [objdump, -d, build/k.so], counts: [ymm = 0]}
    kernel: {module: build/k.so, repeat: 3}
  - name: x86-avx2@dev
    target: x86-avx2
    resource: {name: dev}
    requires_pass: [cpu-scalar@dev]
    kernel: {module: build/k.so}
    skip: [{case: m*, reason: no such unit}]
  - name: pto-sim@dev
    target: pto-sim
    resource: {name: dev}
    run:
      argv: [src/run.sh]
      report: {format: junit, file: build/report.xml, planned: 3}
      compare: [{output: build/out.bin, golden: golden/out.bin, dtype: f32, shape: [4]}]
cases:
  - name: add
    kernel: add
    buffers:
      - {name: a, role: in, dtype: f32, shape: [2, 3], strides: [3, 1], generate: {kind: uniform, seed: 1, low: -1, high: 1}}
      - {name: b, role: inout, dtype: i32, shape: [2], file: {path: inputs/b.bin}, golden: {path: golden/add/b.bin}}
      - {name: c, role: out, dtype: f32, shape: [2, 3], align: 32, misalign: 1, golden: {path: golden/add/c.bin}}
    params: [{i64: 3}, {f64: 0.5}]
  - name: mul
    kernel: mul
    expect_status: 2
    buffers:
      - {name: c, role: out, dtype: bf16}
)";

v1::Suite ValidSuite() {
  v1::Suite suite;
  const TextReading reading = ReadTextMessage(kValid, "suite.yaml", &suite);
  for (const TextFault& fault : reading.faults) ADD_FAILURE() << fault.ToString();
  return suite;
}

std::vector<std::string> Faults(const v1::Suite& suite) {
  std::vector<std::string> texts;
  for (const SuiteFault& fault : CheckSuite(suite)) texts.push_back(fault.path + ": " + fault.text);
  return texts;
}

struct Bend {
  std::string fault;  // all that is wrong then
  std::function<void(v1::Suite&)> bend;
};

v1::Buffer& BufferAt(v1::Suite& s, int buffer, int one = 0) { return *s.mutable_cases(one)->mutable_buffers(buffer); }

void Uniform(v1::Suite& s, v1::DType dtype, double low, double high) {
  BufferAt(s, 0).set_dtype(dtype);
  v1::Generate& generate = *BufferAt(s, 0).mutable_generate();
  generate.set_kind(v1::GENERATE_KIND_UNIFORM);
  generate.set_low(low);
  generate.set_high(high);
}

void ExpectFaults(const std::vector<Bend>& bends) {
  for (const Bend& bend : bends) {
    v1::Suite suite = ValidSuite();
    bend.bend(suite);
    EXPECT_THAT(Faults(suite), ElementsAre(bend.fault));
  }
}

TEST(CheckSuite, AValidSuiteHasNoFaults) { EXPECT_THAT(Faults(ValidSuite()), IsEmpty()); }

TEST(CheckSuite, Suite) {
  ExpectFaults({
      {"name: '-ops' is not a name: 1 to 255 of letters, digits, '.', '_', '-', not starting with '.' or '-'",
       [](v1::Suite& s) { s.set_name("-ops"); }},
      {"contract.version: empty", [](v1::Suite& s) { s.mutable_contract()->clear_version(); }},
      {"golden_lock: missing, but there are golden files", [](v1::Suite& s) { s.clear_golden_lock(); }},
      {"planned: planned are 3 cases, the suite has 2", [](v1::Suite& s) { s.set_planned(3); }},
      {"cases[1].name: a second case 'add'",
       [](v1::Suite& s) {
         s.mutable_cases(1)->set_name("add");
         s.mutable_lanes(1)->clear_skip();
       }},
      {"cases[0].buffers[2].golden.path: no entry of `sources` matches 'elsewhere/c.bin'",
       [](v1::Suite& s) { BufferAt(s, 2).mutable_golden()->set_path("elsewhere/c.bin"); }},
      {"cases[0].buffers[1].file.path: no entry of `sources` matches 'inputs/deep/b.bin'",
       [](v1::Suite& s) { BufferAt(s, 1).mutable_file()->set_path("inputs/deep/b.bin"); }},
      {"lanes[2].run.compare[1].output: a second comparison of 'build/out.bin'",
       [](v1::Suite& s) {
         v1::RunStep& run = *s.mutable_lanes(2)->mutable_run();
         *run.add_compare() = run.compare(0);
       }},
      {"cases[0].buffers[2].name: longer than 251 bytes",
       [](v1::Suite& s) { BufferAt(s, 2).set_name(std::string(252, 'c')); }},
      {"cases[0].buffers[2].name: '__metadata__' is a word of the safetensors format",
       [](v1::Suite& s) { BufferAt(s, 2).set_name("__metadata__"); }},
      {"lanes[2].run.compare[0].golden: no entry of `sources` matches 'out.bin'",
       [](v1::Suite& s) { s.mutable_lanes(2)->mutable_run()->mutable_compare(0)->set_golden("out.bin"); }},
  });
}

TEST(CheckSuite, Lanes) {
  ExpectFaults({
      {"lanes[1].name: 'x86-avx@dev' is not TARGET@RESOURCE, 'x86-avx2@dev'",
       [](v1::Suite& s) { s.mutable_lanes(1)->set_name("x86-avx@dev"); }},
      {"lanes[1].target: there is no target 'x86-avx3'; there are cpu-scalar, x86-avx2, x86-avx512, aarch64-sve256, "
       "cuda-sm_120, ascend-910b3, ascend-910c, amdgpu-gfx1036, pto-sim",
       [](v1::Suite& s) {
         s.mutable_lanes(1)->set_target("x86-avx3");
         s.mutable_lanes(1)->set_name("x86-avx3@dev");
       }},
      {"lanes[1]: exactly one of `kernel` and `run`", [](v1::Suite& s) { s.mutable_lanes(1)->clear_kernel(); }},
      {"lanes[1].requires_pass[0]: there is no lane 'cpu@dev'",
       [](v1::Suite& s) { s.mutable_lanes(1)->set_requires_pass(0, "cpu@dev"); }},
      {"lanes[1].requires_pass: the lane waits for itself",
       [](v1::Suite& s) { s.mutable_lanes(1)->set_requires_pass(0, "x86-avx2@dev"); }},
      {"lanes[1].skip[0].case: no case matches 'q*'",
       [](v1::Suite& s) { s.mutable_lanes(1)->mutable_skip(0)->set_case_("q*"); }},
      {"lanes[1].skip[0].reason: missing", [](v1::Suite& s) { s.mutable_lanes(1)->mutable_skip(0)->clear_reason(); }},
      {"lanes[0].kernel.repeat: more than 100",
       [](v1::Suite& s) { s.mutable_lanes(0)->mutable_kernel()->set_repeat(101); }},
      {"lanes[0].limits: 2592001 s is more than 30 days",
       [](v1::Suite& s) { s.mutable_lanes(0)->mutable_limits()->set_run_s(30 * 24 * 3600 + 1); }},
  });
  v1::Suite suite = ValidSuite();
  *suite.add_lanes() = suite.lanes(0);
  EXPECT_THAT(Faults(suite), ElementsAre("lanes[3].name: a second lane 'cpu-scalar@dev'"));
  suite = ValidSuite();
  suite.mutable_lanes(0)->add_requires_pass("pto-sim@dev");
  suite.mutable_lanes(2)->add_requires_pass("x86-avx2@dev");
  EXPECT_THAT(Faults(suite), ElementsAre("lanes[0].requires_pass: the lane waits for itself",
                                         "lanes[1].requires_pass: the lane waits for itself",
                                         "lanes[2].requires_pass: the lane waits for itself"));
}

TEST(CheckSuite, Steps) {
  const auto compile = [](v1::Suite& s) { return s.mutable_lanes(0)->mutable_compile(0); };
  const auto check = [](v1::Suite& s) { return s.mutable_lanes(0)->mutable_checks(0); };
  const auto run = [](v1::Suite& s) { return s.mutable_lanes(2)->mutable_run(); };
  ExpectFaults({
      {"lanes[0].compile[0].argv: no program is named", [&](v1::Suite& s) { compile(s)->clear_argv(); }},
      {"lanes[0].compile[0].outputs: empty", [&](v1::Suite& s) { compile(s)->clear_outputs(); }},
      {"lanes[0].compile[0].outputs[0]: outputs are written below build/",
       [&](v1::Suite& s) { compile(s)->set_outputs(0, "src/k.so"); }},
      {"lanes[0].compile[0].env[0].name: 'A=B' is no name of a variable",
       [&](v1::Suite& s) { compile(s)->mutable_env(0)->set_name("A=B"); }},
      {"lanes[0].compile[0].env[0].name: PYPTOX_JOB_ID is the agent's to set",
       [&](v1::Suite& s) { compile(s)->mutable_env(0)->set_name("PYPTOX_JOB_ID"); }},
      {"lanes[0].compile[0].env[1].name: A is set twice",
       [&](v1::Suite& s) { *compile(s)->add_env() = compile(s)->env(0); }},
      {"lanes[0].checks[0].counts[0]: 'ymm many' is not CLASS OP NUMBER" + kCountRule,
       [&](v1::Suite& s) { check(s)->set_counts(0, "ymm many"); }},
      {"lanes[0].checks[0].counts[0]: 'ymm > -1' is not CLASS OP NUMBER" + kCountRule,
       [&](v1::Suite& s) { check(s)->set_counts(0, "ymm > -1"); }},
      {"lanes[0].checks[0].counts[0]: 'foo = 0' is not CLASS OP NUMBER" + kCountRule,
       [&](v1::Suite& s) { check(s)->set_counts(0, "foo = 0"); }},
      {"lanes[0].kernel.sve_vector_bytes: 272 is not a multiple of 16 up to 256",
       [](v1::Suite& s) { s.mutable_lanes(0)->mutable_kernel()->set_sve_vector_bytes(272); }},
      {"lanes[0].kernel.sve_vector_bytes: 24 is not a multiple of 16 up to 256",
       [](v1::Suite& s) { s.mutable_lanes(0)->mutable_kernel()->set_sve_vector_bytes(24); }},
      {"lanes[0].checks[0].elf.bits: 16 is neither 32 nor 64",
       [&](v1::Suite& s) { check(s)->mutable_elf()->set_bits(16); }},
      {"lanes[0].checks[0].disassemble: no program is named", [&](v1::Suite& s) { check(s)->clear_disassemble(); }},
      {"lanes[0].checks[0].disassemble: without `counts`", [&](v1::Suite& s) { check(s)->clear_counts(); }},
      {"lanes[2].run.report.planned: a report of no cases proves nothing",
       [&](v1::Suite& s) { run(s)->mutable_report()->set_planned(0); }},
      {"lanes[2].skip: a program's report has its own skips",
       [&](v1::Suite& s) { *s.mutable_lanes(2)->add_skip() = s.lanes(1).skip(0); }},
  });
  v1::Suite suite = ValidSuite();
  run(suite)->clear_report();
  EXPECT_THAT(Faults(suite), IsEmpty()) << "a compare proves something";
  run(suite)->clear_compare();
  EXPECT_THAT(Faults(suite), ElementsAre("lanes[2].run: neither `report` nor `compare`: it would prove nothing"));
}

TEST(CheckSuite, Buffers) {
  ExpectFaults({
      {"cases[0].buffers[1].name: a second buffer 'a'", [](v1::Suite& s) { BufferAt(s, 1).set_name("a"); }},
      {"cases[0].buffers[0].strides: 1 strides for 2 axes",
       [](v1::Suite& s) {
         BufferAt(s, 0).clear_strides();
         BufferAt(s, 0).add_strides(1);
       }},
      {"cases[0].buffers[2].align: 48 is not a power of two up to 4096",
       [](v1::Suite& s) { BufferAt(s, 2).set_align(48); }},
      {"cases[0].buffers[2].align: 8192 is not a power of two up to 4096",
       [](v1::Suite& s) { BufferAt(s, 2).set_align(8192); }},
      {"cases[0].buffers[2].misalign: not below 4096", [](v1::Suite& s) { BufferAt(s, 2).set_misalign(4096); }},
      {"cases[0].buffers[2].shape: more than 2^40 bytes",
       [](v1::Suite& s) { BufferAt(s, 2).set_shape(0, uint64_t{1} << 62); }},
      {"cases[0].buffers[0]: an in or inout buffer has exactly one of `generate` and `file`",
       [](v1::Suite& s) { BufferAt(s, 0).clear_generate(); }},
      {"cases[0].buffers[1]: an in or inout buffer has exactly one of `generate` and `file`",
       [](v1::Suite& s) { BufferAt(s, 1).mutable_generate()->set_kind(v1::GENERATE_KIND_ZERO); }},
      {"cases[0].buffers[2]: an out buffer has no contents",
       [](v1::Suite& s) { BufferAt(s, 2).mutable_generate()->set_kind(v1::GENERATE_KIND_ZERO); }},
      {"cases[0].buffers[2].golden: missing", [](v1::Suite& s) { BufferAt(s, 2).clear_golden(); }},
      {"cases[0].buffers[0].golden: an in buffer has no golden",
       [](v1::Suite& s) { *BufferAt(s, 0).mutable_golden() = BufferAt(s, 2).golden(); }},
      {"cases[1].buffers[0].golden: a case that must be refused has no golden",
       [](v1::Suite& s) { *BufferAt(s, 0, 1).mutable_golden() = BufferAt(s, 2).golden(); }},
      {"cases[0].buffers[0].strides: more than 2^40 bytes",
       [](v1::Suite& s) { BufferAt(s, 0).set_strides(0, uint64_t{1} << 37); }},
      {"cases[0].buffers[0].generate.low: low 2 is not at most high 1",
       [](v1::Suite& s) {
         BufferAt(s, 0).mutable_generate()->set_kind(v1::GENERATE_KIND_ZERO);
         BufferAt(s, 0).mutable_generate()->set_low(2);
       }},
      {"cases[0].buffers[0].generate.low: low 2 is not at most high 1",
       [](v1::Suite& s) { BufferAt(s, 0).mutable_generate()->set_low(2); }},
      {"cases[0].buffers[0].generate.low: bounds 0.5 and 1 do not fit dtype i8: whole numbers of its range and of "
       "at most 2^53 for an integer, a finite distance for a float",
       [](v1::Suite& s) { Uniform(s, v1::DTYPE_I8, 0.5, 1); }},
      {"cases[0].buffers[0].generate.low: bounds 0 and 128 do not fit dtype i8: whole numbers of its range and of "
       "at most 2^53 for an integer, a finite distance for a float",
       [](v1::Suite& s) { Uniform(s, v1::DTYPE_I8, 0, 128); }},
      {"cases[0].buffers[0].generate.low: bounds -1 and 0 do not fit dtype u64: whole numbers of its range and of "
       "at most 2^53 for an integer, a finite distance for a float",
       [](v1::Suite& s) { Uniform(s, v1::DTYPE_U64, -1, 0); }},
      {"cases[0].buffers[0].generate.low: bounds 0 and 9007199254740994 do not fit dtype i64: whole numbers of its "
       "range and of "
       "at most 2^53 for an integer, a finite distance for a float",
       [](v1::Suite& s) { Uniform(s, v1::DTYPE_I64, 0, 0x1p53 + 2); }},
      {"cases[0].buffers[0].generate.low: bounds -1e+308 and 1e+308 do not fit dtype f64: whole numbers of its range "
       "and of "
       "at most 2^53 for an integer, a finite distance for a float",
       [](v1::Suite& s) { Uniform(s, v1::DTYPE_F64, -1e308, 1e308); }},
      {"cases[0].buffers[2].dtype: missing", [](v1::Suite& s) { BufferAt(s, 2).clear_dtype(); }},
      {"cases[1].buffers: no out or inout buffer: the case would compare nothing",
       [](v1::Suite& s) { s.mutable_cases(1)->clear_buffers(); }},
      {"cases[0].params[1]: exactly one of `i64` and `f64`",
       [](v1::Suite& s) { s.mutable_cases(0)->mutable_params(1)->Clear(); }},
  });
}

TEST(CheckSuite, LegalExtremes) {
  v1::Suite suite = ValidSuite();
  BufferAt(suite, 2).set_shape(0, 0);
  BufferAt(suite, 2).set_align(4096);
  BufferAt(suite, 2).set_misalign(4095);
  Uniform(suite, v1::DTYPE_U64, 0, 0x1p53);
  EXPECT_THAT(Faults(suite), IsEmpty());
  Uniform(suite, v1::DTYPE_I8, -128, 127);
  EXPECT_THAT(Faults(suite), IsEmpty());
  Uniform(suite, v1::DTYPE_F32, -1, -1);
  EXPECT_THAT(Faults(suite), IsEmpty());
}

TEST(CheckSuite, MostCasesAndBuffers) {
  v1::Suite suite = ValidSuite();
  while (suite.cases_size() < kMaxCases) {
    v1::Case& one = *suite.add_cases();
    one = suite.cases(1);
    one.set_name("case" + std::to_string(suite.cases_size()));
  }
  suite.set_planned(kMaxCases);
  EXPECT_THAT(Faults(suite), IsEmpty());
  v1::Case& last = *suite.add_cases();
  last = suite.cases(1);
  last.set_name("last");
  suite.set_planned(kMaxCases + 1);
  EXPECT_THAT(Faults(suite), ElementsAre("cases: more than 4096 cases"));

  suite = ValidSuite();
  while (suite.cases(1).buffers_size() <= kMaxBuffers) {
    v1::Buffer& buffer = *suite.mutable_cases(1)->add_buffers();
    buffer = suite.cases(1).buffers(0);
    buffer.set_name("b" + std::to_string(suite.cases(1).buffers_size()));
  }
  EXPECT_THAT(Faults(suite), ElementsAre("cases[1].buffers: more than 1024"));
}

TEST(CheckSuite, HostilePathsAreRefusedEverywhere) {
  for (const char* path : {"/etc/passwd", "../x", "a/../../x", "a//b", "", "a\x01"}) {
    const std::vector<std::function<void(v1::Suite&)>> places = {
        [&](v1::Suite& s) { s.add_sources(path); },
        [&](v1::Suite& s) { s.add_cases_from(path); },
        [&](v1::Suite& s) { BufferAt(s, 1).mutable_file()->set_path(path); },
        [&](v1::Suite& s) { BufferAt(s, 1).mutable_golden()->set_path(path); },
        [&](v1::Suite& s) { s.mutable_lanes(0)->mutable_compile(0)->add_outputs(path); },
        [&](v1::Suite& s) { s.mutable_lanes(0)->mutable_checks(0)->set_file(path); },
        [&](v1::Suite& s) { s.mutable_lanes(0)->mutable_kernel()->set_module(path); },
        [&](v1::Suite& s) { s.mutable_lanes(2)->mutable_run()->mutable_report()->set_file(path); },
        [&](v1::Suite& s) { s.mutable_lanes(2)->mutable_run()->mutable_compare(0)->set_output(path); },
        [&](v1::Suite& s) { s.mutable_lanes(2)->mutable_run()->mutable_compare(0)->set_golden(path); }};
    for (size_t i = 0; i < places.size(); ++i) {
      v1::Suite suite = ValidSuite();
      places[i](suite);
      EXPECT_FALSE(CheckSuite(suite).empty()) << path << " at place " << i;
    }
  }
}

TEST(CheckSuite, AnEmptySuiteSaysAllThatIsMissing) {
  EXPECT_THAT(
      Faults({}),
      ElementsAre("name: '' is not a name: 1 to 255 of letters, digits, '.', '_', '-', not starting with '.' or "
                  "'-'",
                  "contract.name: '' is not a name: 1 to 255 of letters, digits, '.', '_', '-', not starting "
                  "with '.' or '-'",
                  "contract.version: empty", "sources: empty", "lanes: empty",
                  "planned: a suite that plans no cases proves nothing"));
}

TEST(PickCases, PicksInTheSuitesOrder) {
  const v1::Suite suite = ValidSuite();
  google::protobuf::RepeatedPtrField<std::string> patterns;
  EXPECT_THAT(PickCases(suite, patterns).value(), IsEmpty());
  *patterns.Add() = "mul";
  EXPECT_THAT(PickCases(suite, patterns).value(), ElementsAre("mul"));
  *patterns.Add() = "a?d";
  EXPECT_THAT(PickCases(suite, patterns).value(), ElementsAre("add", "mul"));
  *patterns.Add() = "*";
  EXPECT_THAT(PickCases(suite, patterns).value(), ElementsAre("add", "mul"));
  *patterns.Add() = "div*";
  EXPECT_EQ(PickCases(suite, patterns).status().message(), "no case of suite ops matches 'div*'");
}

TEST(FindLane, ByName) {
  const v1::Suite suite = ValidSuite();
  EXPECT_EQ(FindLane(suite, "x86-avx2@dev"), &suite.lanes(1));
  EXPECT_EQ(FindLane(suite, "x86-avx2"), nullptr);
}

v1::Suite ReadExample(const std::string& name) {
  const std::string folder = std::string(getenv("PYPTOX_SOURCE_DIR")) + "/examples/" + name;
  v1::Suite suite;
  EXPECT_THAT(ReadTextMessage(ReadFile(folder, 1 << 20).value(), name, &suite).faults, IsEmpty());
  for (const std::string& more : suite.cases_from()) {
    v1::CaseList list;
    const std::string file = folder.substr(0, folder.rfind('/') + 1) + more;
    EXPECT_THAT(ReadTextMessage(ReadFile(file, 4 << 20).value(), more, &list).faults, IsEmpty());
    suite.mutable_cases()->MergeFrom(list.cases());
  }
  return suite;
}

TEST(CheckSuite, Examples) {
  EXPECT_THAT(Faults(ReadExample("portable-ops/suite.yaml")), IsEmpty());
  EXPECT_THAT(Faults(ReadExample("broken/valid.yaml")), IsEmpty());
  const std::pair<std::string, std::string> broken[] = {
      {"unknown-lane", "lanes[0].requires_pass[0]: there is no lane 'x86-avx2@dev'"},
      {"lane-waits-for-itself", "lanes[0].requires_pass: the lane waits for itself"},
      {"planned-mismatch", "planned: planned are 2 cases, the suite has 1"},
      {"duplicate-case", "cases[1].name: a second case 'refused'"},
      {"duplicate-lane", "lanes[1].name: a second lane 'cpu-scalar@dev'"},
      {"skip-without-case", "lanes[0].skip[0].case: no case matches 'matmul-*'"},
      {"kernel-and-run", "lanes[0]: exactly one of `kernel` and `run`"},
      {"missing-contents", "cases[0].buffers[0]: an in or inout buffer has exactly one of `generate` and `file`"},
      {"missing-golden", "cases[0].buffers[0].golden: missing"},
      {"bad-count", "lanes[0].checks[0].counts[0]: 'ymm many' is not CLASS OP NUMBER" + kCountRule}};
  for (const auto& [name, fault] : broken) {
    EXPECT_THAT(Faults(ReadExample("broken/" + name + ".yaml")), testing::Contains(fault)) << name;
  }
  EXPECT_FALSE(CheckSuite(ReadExample("broken/no-cases.yaml")).empty());
  EXPECT_FALSE(CheckSuite(ReadExample("broken/leaves-its-folder.yaml")).empty());
}

}  // namespace
}  // namespace pyptox::matrix
