// Rules of one lane and its steps.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "backends/inspect/count_condition.h"
#include "matrix/fault_list.h"

namespace pyptox::matrix {
namespace {

constexpr uint32_t kMaxLimitSeconds = 30 * 24 * 3600;
// The architecture's longest vector, 2048 bits; all lengths are multiples of 128 bits (Arm ARM, SVE).
constexpr uint32_t kMaxSveVectorBytes = 256;

// The words for what code is built for (DESIGN section 2). Which of them a resource can run, its agent knows.
constexpr std::string_view kTargets[] = {"cpu-scalar",     "x86-avx2",       "x86-avx512",
                                         "aarch64-sve256", "cuda-sm_120",    "ascend-910b3",
                                         "ascend-910c",    "amdgpu-gfx1036", "pto-sim"};

void CheckEnv(const google::protobuf::RepeatedPtrField<v1::EnvVar>& env, const std::string& path, FaultList* faults) {
  std::set<std::string_view> names;
  for (int i = 0; i < env.size(); ++i) {
    const std::string at = fmt::format("{}[{}].name", path, i);
    const std::string& name = env[i].name();
    if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
      faults->Add(at, fmt::format("'{}' is no name of a variable", name));
    }
    if (env[i].value().find('\0') != std::string::npos) faults->Add(at, "the value holds a NUL");
    if (name == "TMPDIR" || name.starts_with("PYPTOX_")) faults->Add(at, fmt::format("{} is the agent's to set", name));
    if (!names.insert(name).second) faults->Add(at, fmt::format("{} is set twice", name));
  }
}

void CheckArgv(const google::protobuf::RepeatedPtrField<std::string>& argv, const std::string& path,
               FaultList* faults) {
  if (argv.empty() || argv[0].empty()) faults->Add(path, "no program is named");
  for (const std::string& argument : argv) {
    if (argument.find('\0') != std::string::npos) faults->Add(path, "an argument holds a NUL");
  }
}

void CheckCompile(const v1::CompileStep& step, const std::string& path, FaultList* faults) {
  CheckArgv(step.argv(), path + ".argv", faults);
  CheckEnv(step.env(), path + ".env", faults);
  if (step.outputs_size() == 0) faults->Add(path + ".outputs", "empty");
  for (int i = 0; i < step.outputs_size(); ++i) {
    const std::string at = fmt::format("{}.outputs[{}]", path, i);
    faults->CheckPathAt(at, step.outputs(i));
    if (!step.outputs(i).starts_with("build/")) faults->Add(at, "outputs are written below build/");
  }
}

void CheckCheckStep(const v1::CheckStep& step, const std::string& path, FaultList* faults) {
  faults->CheckPathAt(path + ".file", step.file());
  if (!step.has_elf() && step.counts_size() == 0) faults->Add(path, "neither `elf` nor `counts`");
  if (step.has_elf() && step.elf().bits() != 0 && step.elf().bits() != 32 && step.elf().bits() != 64) {
    faults->Add(path + ".elf.bits", fmt::format("{} is neither 32 nor 64", step.elf().bits()));
  }
  if (step.counts_size() > 0) CheckArgv(step.disassemble(), path + ".disassemble", faults);
  if (step.counts_size() == 0 && step.disassemble_size() > 0) faults->Add(path + ".disassemble", "without `counts`");
  for (int i = 0; i < step.counts_size(); ++i) {
    const absl::Status status = backends::ParseCountCondition(step.counts(i)).status();
    if (!status.ok()) faults->Add(fmt::format("{}.counts[{}]", path, i), std::string(status.message()));
  }
}

void CheckRun(const v1::RunStep& run, const std::string& path, FaultList* faults) {
  CheckArgv(run.argv(), path + ".argv", faults);
  CheckEnv(run.env(), path + ".env", faults);
  if (!run.has_report() && run.compare_size() == 0)
    faults->Add(path, "neither `report` nor `compare`: it would prove nothing");
  if (run.has_report()) {
    faults->CheckPathAt(path + ".report.file", run.report().file());
    if (run.report().planned() == 0) faults->Add(path + ".report.planned", "a report of no cases proves nothing");
    if (run.report().format() == v1::REPORT_FORMAT_UNSPECIFIED) faults->Add(path + ".report.format", "missing");
  }
  // Each is a case of its own, named by its output.
  std::set<std::string_view> outputs;
  for (int i = 0; i < run.compare_size(); ++i) {
    const std::string at = fmt::format("{}.compare[{}]", path, i);
    if (!outputs.insert(run.compare(i).output()).second) {
      faults->Add(at + ".output", fmt::format("a second comparison of '{}'", run.compare(i).output()));
    }
    faults->CheckPathAt(at + ".output", run.compare(i).output());
    faults->CheckPathAt(at + ".golden", run.compare(i).golden());
    if (run.compare(i).dtype() == v1::DTYPE_UNSPECIFIED) faults->Add(at + ".dtype", "missing");
  }
}

void CheckSkips(const v1::Suite& suite, const v1::Lane& lane, const std::string& path, FaultList* faults) {
  for (int i = 0; i < lane.skip_size(); ++i) {
    const v1::Skip& skip = lane.skip(i);
    const std::string at = fmt::format("{}.skip[{}]", path, i);
    if (skip.reason().empty()) faults->Add(at + ".reason", "missing");
    const bool matches = std::any_of(suite.cases().begin(), suite.cases().end(),
                                     [&](const v1::Case& one) { return GlobMatches(skip.case_(), one.name()); });
    if (!matches) faults->Add(at + ".case", fmt::format("no case matches '{}'", skip.case_()));
  }
}

}  // namespace

void CheckLane(const v1::Suite& suite, const v1::Lane& lane, const std::string& path, FaultList* faults) {
  if (std::find(std::begin(kTargets), std::end(kTargets), lane.target()) == std::end(kTargets)) {
    faults->Add(path + ".target", fmt::format("there is no target '{}'; there are {}", lane.target(),
                                              fmt::join(std::begin(kTargets), std::end(kTargets), ", ")));
  }
  faults->CheckNameAt(path + ".resource.name", lane.resource().name());
  const std::string wanted = fmt::format("{}@{}", lane.target(), lane.resource().name());
  if (lane.name() != wanted)
    faults->Add(path + ".name", fmt::format("'{}' is not TARGET@RESOURCE, '{}'", lane.name(), wanted));
  for (int i = 0; i < lane.compile_size(); ++i)
    CheckCompile(lane.compile(i), fmt::format("{}.compile[{}]", path, i), faults);
  for (int i = 0; i < lane.checks_size(); ++i)
    CheckCheckStep(lane.checks(i), fmt::format("{}.checks[{}]", path, i), faults);
  if (lane.has_kernel() == lane.has_run()) faults->Add(path, "exactly one of `kernel` and `run`");
  if (lane.has_kernel()) {
    faults->CheckPathAt(path + ".kernel.module", lane.kernel().module());
    if (lane.kernel().repeat() > 100) faults->Add(path + ".kernel.repeat", "more than 100");
    if (const uint32_t bytes = lane.kernel().sve_vector_bytes(); bytes % 16 != 0 || bytes > kMaxSveVectorBytes) {
      faults->Add(path + ".kernel.sve_vector_bytes", fmt::format("{} is not a multiple of 16 up to 256", bytes));
    }
  }
  if (lane.has_run()) CheckRun(lane.run(), path + ".run", faults);
  if (lane.has_run() && lane.skip_size() > 0) faults->Add(path + ".skip", "a program's report has its own skips");
  for (int i = 0; i < lane.requires_pass_size(); ++i) {
    if (FindLane(suite, lane.requires_pass(i)) == nullptr) {
      faults->Add(fmt::format("{}.requires_pass[{}]", path, i),
                  fmt::format("there is no lane '{}'", lane.requires_pass(i)));
    }
  }
  CheckSkips(suite, lane, path, faults);
  const v1::Limits& limits = lane.limits();
  for (const uint32_t limit : {limits.queue_s(), limits.run_s(), limits.silence_s(), limits.case_s()}) {
    if (limit > kMaxLimitSeconds) faults->Add(path + ".limits", fmt::format("{} s is more than 30 days", limit));
  }
}

}  // namespace pyptox::matrix
