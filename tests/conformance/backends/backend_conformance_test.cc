#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "backends/api/backend.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/fake/fake_backend.h"
#include "backends/qemu/qemu_backend.h"
#include "tests/support/runner_process.h"
#include "tests/support/temp_folder.h"

namespace pyptox::backends {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string FirstExisting(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

// Where PATH finds a program; empty if nowhere.
std::string OnPath(const std::string& program) {
  std::vector<std::string> candidates;
  std::istringstream path(Variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) candidates.push_back(folder + "/" + program);
  return FirstExisting(candidates);
}

FactMap HostFacts() {
  utsname names{};
  uname(&names);
  FactMap facts = {{"architecture", names.machine}, {"virtualization", "none"}};
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("flags") || line.starts_with("Features")) facts["cpu_flags"] = line.substr(line.find(':') + 1);
  }
  return facts;
}

// One backend with facts under which it runs something here.
struct Subject {
  std::string name;
  std::string target;
  std::string kernels;
  std::string qemu_cpu;
};

std::ostream& operator<<(std::ostream& out, const Subject& subject) { return out << subject.name; }

class BackendConformance : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    if (GetParam().name == "cpu") backend_ = std::make_unique<CpuBackend>();
    if (GetParam().name == "qemu") backend_ = std::make_unique<QemuBackend>();
    if (GetParam().name == "fake") backend_ = std::make_unique<FakeBackend>();
    kernel_.set_qemu_cpu(GetParam().qemu_cpu);
    request_.target = FindTarget(GetParam().target);
    ASSERT_NE(request_.target, nullptr);
    request_.facts = &facts_;
    request_.kernel = &kernel_;
    request_.runner_dir = Variable("PYPTOX_BIN_DIR");
    facts_ = HostFacts();
    if (GetParam().name == "qemu") {
      facts_["qemu_aarch64"] = OnPath("qemu-aarch64").empty() ? "absent" : "qemu-aarch64 of this host";
      facts_["aarch64_loader"] =
          FirstExisting({"/lib/ld-linux-aarch64.so.1", "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1"});
    }
  }

  // A plan that can run; skips the test with the reason where there is none.
  void MakeRunnablePlan() {
    plan_ = backend_->MakePlan(request_);
    if (plan_.refused.has_value()) GTEST_SKIP() << plan_.refused->reason();
    if (!std::filesystem::exists(plan_.runner_argv.back())) GTEST_SKIP() << "not built: " << plan_.runner_argv.back();
  }

  json Manifest(const std::string& module, const std::string& symbol) {
    folder_.Write("golden.bin", std::string("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", 12));  // 1, 2, 3
    std::filesystem::create_directories(folder_ / "out");
    return {{"case", symbol},
            {"module", Variable("PYPTOX_KERNEL_DIR") + "/" + GetParam().kernels + module},
            {"symbol", symbol},
            {"repeat", 3},
            {"output_dir", folder_ / "out"},
            {"buffers",
             {{{"name", "in"}, {"role", "ROLE_IN"}, {"dtype", "DTYPE_F32"}, {"shape", {3}}, {"file", FileOfInput()}},
              {{"name", "out"},
               {"role", "ROLE_OUT"},
               {"dtype", "DTYPE_F32"},
               {"shape", {3}},
               {"golden", {{"path", folder_ / "golden.bin"}}}}}}};
  }

  json FileOfInput() {
    folder_.Write("in.bin", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x40", 12));  // 0, 1, 2
    return {{"path", folder_ / "in.bin"}};
  }

  RunnerEnd Run(const json& manifest) {
    std::filesystem::remove(folder_ / "result.json");
    return RunRunner(plan_.runner_argv, manifest, folder_, plan_.env);
  }

  std::unique_ptr<Backend> backend_;
  FactMap facts_;
  v1::KernelStep kernel_;
  PlanRequest request_;
  Plan plan_;
  TempFolder folder_;
};

TEST_P(BackendConformance, PlansArePureAndHonest) {
  EXPECT_EQ(backend_->name(), GetParam().name);
  const FactMap nothing;
  for (const TargetInfo& target : Targets()) {
    for (const FactMap* facts : {&nothing, static_cast<const FactMap*>(&facts_)}) {
      request_.target = &target;
      request_.facts = facts;
      const Plan plan = backend_->MakePlan(request_);
      const Plan again = backend_->MakePlan(request_);
      EXPECT_EQ(plan.runner_argv, again.runner_argv);
      EXPECT_EQ(plan.env, again.env);
      EXPECT_EQ(plan.not_covered, again.not_covered);
      EXPECT_NE(plan.evidence_class, v1::EVIDENCE_CLASS_UNSPECIFIED);
      // Only the real processor of a host that is known not to be a guest is native.
      EXPECT_EQ(plan.evidence_class == v1::EVIDENCE_CLASS_NATIVE, GetParam().name == "cpu" && facts == &facts_);
      if (plan.refused.has_value()) {
        EXPECT_NE(plan.refused->verdict(), v1::VERDICT_PASS);
        EXPECT_THAT(plan.refused->kind(), Not(IsEmpty()));
        EXPECT_THAT(plan.refused->reason(), Not(IsEmpty()));
        EXPECT_THAT(plan.runner_argv, IsEmpty());
      } else {
        EXPECT_THAT(plan.runner_argv, Not(IsEmpty()));
        // What is not native says what a PASS leaves open.
        const bool real =
            plan.evidence_class == v1::EVIDENCE_CLASS_NATIVE || plan.evidence_class == v1::EVIDENCE_CLASS_VIRTUALIZED;
        EXPECT_EQ(plan.not_covered.empty(), real);
      }
    }
  }
}

TEST_P(BackendConformance, AGoodKernelPasses) {
  MakeRunnablePlan();
  if (IsSkipped()) return;
  const RunnerEnd end = Run(Manifest("sample_kernels.so", "add_one"));
  ASSERT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_PASS") << end.Reason();
  EXPECT_EQ(end.result["launches"], 3);
  EXPECT_EQ(end.result["kernel_status"], 0);
  EXPECT_EQ(end.result["fp_before"], end.result["fp_after"]);
  EXPECT_EQ(end.result["fp_after"]["rounding"], "FE_TONEAREST");
  EXPECT_EQ(end.result["launch_ns"].size(), 3u);
  EXPECT_EQ(end.result["inputs"][0]["sha256"], end.result["inputs"][0]["sha256_after"]);
  EXPECT_EQ(end.result["outputs"][0]["comparison"]["elements"], "3");
  EXPECT_EQ(folder_.Read("out/out.bin"), folder_.Read("golden.bin"));
  bool lists_module = false;
  for (const json& path : end.result["loaded"]) {
    lists_module = lists_module || path.get<std::string>().ends_with("/sample_kernels.so");
  }
  EXPECT_TRUE(lists_module) << end.result["loaded"];
}

// The whole kind of fault each must be called by its name, on every backend.
TEST_P(BackendConformance, EveryFaultHasItsOutcome) {
  MakeRunnablePlan();
  if (IsSkipped()) return;
  const struct {
    const char* symbol;
    const char* outcome;
    const char* reason;
    int signal;
  } table[] = {
      {"write_byte_before", "OUT_OF_BOUNDS", "launch 1 wrote 1 byte before buffer out", 0},
      {"write_byte_after", "OUT_OF_BOUNDS", "launch 1 wrote 1 byte after buffer out", 0},
      {"write_page_before", "OUT_OF_BOUNDS", "launch 1 wrote 4096 bytes before buffer out", 0},
      {"write_page_after", "OUT_OF_BOUNDS", "launch 1 wrote 4096 bytes after buffer out", 0},
      {"write_before_input", "OUT_OF_BOUNDS", "launch 1 wrote 1 byte before buffer in", 0},
      {"write_byte_after_later", "OUT_OF_BOUNDS", "launch 2 wrote 1 byte after buffer out", 0},
      {"write_after_then_crash", "OUT_OF_BOUNDS", "launch 1 wrote 1 byte after buffer out", SIGSEGV},
      {"change_input", "INPUT_CHANGED", "input in was changed", 0},
      {"count_launches", "NOT_DETERMINISTIC", "launch 2 gave output out other bytes than launch 1", 0},
      {"wrong_bit", "MISMATCH", "1 of 3 elements differ, first at index 0: expected 0x3f800000 (1), is 0x3f800010", 0},
      {"write_nothing", "MISMATCH", "3 of 3 elements differ, first at index 0: expected 0x3f800000 (1), is 0xa5a5a5a5",
       0},
      {"crash_by_address", "CRASH", "in launch 1", SIGSEGV},
      {"crash_by_arithmetic", "CRASH", "in launch 1", SIGFPE},
      {"crash_by_abort", "CRASH", "in launch 1", SIGABRT},
      {"crash_later", "CRASH", "in launch 2", SIGABRT},
      {"exit_zero", "EXITED", "exited with status 0 in launch 1", 0},
      {"wrong_status", "WRONG_STATUS", "returned 7, expected is 0", 0},
      {"wrong_status_later", "WRONG_STATUS", "returned 7, expected is 0", 0},
      {"round_upward", "FP_ENVIRONMENT", "the kernel changed", 0},
      {"unmask_exceptions", "FP_ENVIRONMENT", "the kernel changed", 0},
      {"flush_to_zero", "FP_ENVIRONMENT", "the kernel changed", 0},
      {"raise_flags", "PASS", "", 0},
      {"write_into_sockets", "CRASH", "broke the conversation with the runner in launch 1", 0},
      {"not_there", "NO_SYMBOL", "not_there", 0},
  };
  for (const auto& row : table) {
    const RunnerEnd end = Run(Manifest("faulty_kernels.so", row.symbol));
    EXPECT_EQ(end.exit_code, 0) << row.symbol;
    EXPECT_EQ(end.Outcome(), std::string("CASE_OUTCOME_") + row.outcome) << row.symbol << ": " << end.Reason();
    EXPECT_THAT(end.Reason(), HasSubstr(row.reason)) << row.symbol;
    ASSERT_TRUE(end.result.is_object()) << row.symbol;
    EXPECT_EQ(end.result.value("signal", 0), row.signal) << row.symbol;
  }
}

TEST_P(BackendConformance, AHangEndsAtTheLimit) {
  MakeRunnablePlan();
  if (IsSkipped()) return;
  for (const char* symbol : {"hang", "close_files_and_hang"}) {
    json manifest = Manifest("faulty_kernels.so", symbol);
    manifest["timeout_ms"] = 1500;
    const RunnerEnd end = Run(manifest);
    EXPECT_EQ(end.exit_code, 0) << symbol;
    EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_HANG") << symbol << ": " << end.Reason();
  }
}

TEST_P(BackendConformance, LoadingHasItsFaultsToo) {
  MakeRunnablePlan();
  if (IsSkipped()) return;
  RunnerEnd end = Run(Manifest("flushing_module.so", "add_one"));
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_FP_ENVIRONMENT");
  EXPECT_THAT(end.Reason(), HasSubstr("loading the module changed"));
  end = Run(Manifest("exiting_module.so", "add_one"));
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_EXITED");
  EXPECT_THAT(end.Reason(), HasSubstr("exited with status 3 while the module was loaded"));
  end = Run(Manifest("no_such.so", "add_one"));
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_NO_MODULE");
  EXPECT_THAT(end.Reason(), HasSubstr("no_such.so"));
  folder_.Write("text.so", "not an ELF file");
  json manifest = Manifest("no_such.so", "add_one");
  manifest["module"] = folder_ / "text.so";
  end = Run(manifest);
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_NO_MODULE");
  EXPECT_THAT(end.Reason(), HasSubstr("text.so"));
}

TEST_P(BackendConformance, ARefusalWritesNothing) {
  MakeRunnablePlan();
  if (IsSkipped()) return;
  const auto refused = [&](const std::string& module, const std::string& symbol) {
    json manifest = Manifest(module, symbol);
    manifest["expect_status"] = 2;
    manifest["buffers"][1].erase("golden");
    return Run(manifest);
  };
  RunnerEnd end = refused("sample_kernels.so", "refuse_index");
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_PASS") << end.Reason();
  EXPECT_EQ(end.result["kernel_status"], 2);
  end = refused("faulty_kernels.so", "refuse_after_writing");
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_MISMATCH");
  EXPECT_THAT(end.Reason(), HasSubstr("refused, but wrote to out"));
  // A kernel that computes where it should refuse.
  end = refused("sample_kernels.so", "add_one");
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_WRONG_STATUS");
}

TEST_P(BackendConformance, AVectorLengthThatIsNotThereBlocks) {
  MakeRunnablePlan();
  if (IsSkipped()) return;
  json manifest = Manifest("sample_kernels.so", "add_one");
  manifest["sve_vector_bytes"] = 16;
  const RunnerEnd end = Run(manifest);
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_BLOCKED_DEVICE");
  EXPECT_THAT(end.Reason(), HasSubstr("the case needs 16"));
}

INSTANTIATE_TEST_SUITE_P(Backends, BackendConformance,
                         testing::Values(Subject{"cpu", "cpu-scalar", "", ""}, Subject{"fake", "cpu-scalar", "", ""},
                                         Subject{"qemu", "aarch64-sve256", "aarch64/", "max,sve256=on"}),
                         [](const auto& info) { return info.param.name; });

// SVE code on the emulator, with the vector length that the lane asks for.
class SveUnderQemu : public BackendConformance {};

TEST_P(SveUnderQemu, VectorsHave32Bytes) {
  MakeRunnablePlan();
  if (IsSkipped()) return;
  json manifest = Manifest("sve_kernels.so", "vector_bytes");
  folder_.Write("bytes.bin", std::string("\x20\0\0\0\0\0\0\0", 8));
  manifest["sve_vector_bytes"] = 32;
  manifest["buffers"].erase(0);
  manifest["buffers"][0].update(
      {{"dtype", "DTYPE_U64"}, {"shape", {1}}, {"golden", {{"path", folder_ / "bytes.bin"}}}});
  RunnerEnd end = Run(manifest);
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_PASS") << end.Reason();
  EXPECT_EQ(end.result["sve_vector_bytes"], 32);

  manifest = Manifest("sve_kernels.so", "add_one");
  manifest["sve_vector_bytes"] = 32;
  end = Run(manifest);
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_PASS") << end.Reason();
}

TEST_P(SveUnderQemu, AnotherLengthIsSeen) {
  const std::pair<const char*, int> lengths[] = {{"max,sve128=on,sve256=off", 16}, {"max,sve512=on", 64}};
  for (const auto& [cpu, bytes] : lengths) {
    kernel_.set_qemu_cpu(cpu);
    MakeRunnablePlan();
    if (IsSkipped()) return;
    json manifest = Manifest("sve_kernels.so", "add_one");
    manifest["sve_vector_bytes"] = 32;
    const RunnerEnd end = Run(manifest);
    EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_BLOCKED_DEVICE") << end.Reason();
    EXPECT_EQ(end.result["sve_vector_bytes"], bytes);
    EXPECT_EQ(end.result["launches"], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, SveUnderQemu,
                         testing::Values(Subject{"qemu", "aarch64-sve256", "aarch64/", "max,sve256=on"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace pyptox::backends
