#include "agent/steps/run_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/report/judge_report.h"
#include "agent/report/test_report.h"
#include "agent/steps/artifact_keeper.h"
#include "agent/steps/build_steps.h"
#include "agent/steps/comparison_message.h"
#include "agent/steps/step_process.h"
#include "backends/compare/compare.h"
#include "base/file_io.h"
#include "matrix/admission.h"
#include "matrix/verdict.h"

namespace pyptox::agent {
namespace {

using matrix::MakeOutcome;

constexpr uint64_t kMaxReportBytes = 256 << 20;

v1::Outcome Pass() { return MakeOutcome(v1::VERDICT_PASS, "", ""); }

// A file's bytes, mapped for reading; `file` stays open.
class Mapping {
 public:
  static absl::StatusOr<Mapping> Of(const WorkFolder::File& file) {
    Mapping mapping;
    if (file.size == 0) return mapping;
    void* address = mmap(nullptr, file.size, PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
    if (address == MAP_FAILED) return ErrnoStatus(errno, "mmap");
    mapping.bytes_ = {static_cast<const std::byte*>(address), file.size};
    return mapping;
  }
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Mapping() = default;
  std::span<const std::byte> bytes_;
};

void AddStep(AttemptContext& context, v1::StepKind kind, v1::StepResult step, const v1::Outcome& outcome) {
  step.set_kind(kind);
  *step.mutable_outcome() = outcome;
  context.Note(fmt::format("{}: {}{}{}", step.name(), matrix::OutcomeWord(outcome),
                           outcome.reason().empty() ? "" : ": ", outcome.reason()));
  *context.evidence.add_steps() = std::move(step);
}

std::string CaseName(const v1::CompareStep& step) { return "compare:" + step.output(); }

// Outcome of the report, which fills in its cases.
v1::Outcome ReadReport(AttemptContext& context, const v1::ReportStep& report, int exit_status) {
  const absl::StatusOr<std::string> text = context.folder.Read(report.file(), kMaxReportBytes);
  if (!text.ok()) return InfraOutcome("report", text.status());
  const absl::StatusOr<TestReport> parsed = ParseTestReport(report.format(), *text, report.file());
  if (!parsed.ok()) return InfraOutcome("report", parsed.status());
  for (const v1::CompareStep& compare : context.lane.run().compare()) {
    const std::string name = CaseName(compare);
    if (std::any_of(parsed->cases.begin(), parsed->cases.end(), [&](const auto& c) { return c.name == name; })) {
      return MakeOutcome(v1::VERDICT_INFRA, "report",
                         fmt::format("{} has a case {}, which is the name of a comparison", report.file(), name));
    }
  }
  return JudgeReport(*parsed, report, exit_status, &context.evidence);
}

// A golden that is not what the suite says it is proves nothing by being equal. Empty when it can serve.
std::string GoldenFault(const v1::CompareStep& step, uint64_t bytes) {
  const compare::DTypeInfo& info = compare::InfoOf(static_cast<compare::DType>(step.dtype()));
  if (step.shape().empty()) {
    if (bytes == 0) return fmt::format("{} is empty, and no shape with an extent of 0 says so", step.golden());
    if (bytes % info.bytes == 0) return "";
    return fmt::format("{} has {} bytes, no whole number of {}", step.golden(), bytes, info.name);
  }
  uint64_t wanted = info.bytes;
  bool overflow = false;
  const bool none = std::any_of(step.shape().begin(), step.shape().end(), [](uint64_t extent) { return extent == 0; });
  for (const uint64_t extent : step.shape()) {
    overflow = overflow || __builtin_mul_overflow(wanted, extent, &wanted);
  }
  if (none ? bytes == 0 : !overflow && bytes == wanted) return "";
  return fmt::format("{} has {} bytes, the shape {} of {} needs {}", step.golden(), bytes, fmt::join(step.shape(), "x"),
                     info.name,
                     none       ? "0"
                     : overflow ? "more than there can be"
                                : std::to_string(wanted));
}

// Compares the bytes of both; nothing when they can't be read.
std::optional<compare::Comparison> CompareBytes(const AttemptContext& context, const v1::CompareStep& step) {
  const absl::StatusOr<WorkFolder::File> output = context.folder.Open(step.output());
  const absl::StatusOr<WorkFolder::File> golden = context.folder.Open("src/" + step.golden());
  if (!output.ok() || !golden.ok()) return std::nullopt;
  const absl::StatusOr<Mapping> actual = Mapping::Of(*output);
  const absl::StatusOr<Mapping> expected = Mapping::Of(*golden);
  if (!actual.ok() || !expected.ok()) return std::nullopt;
  const std::vector<uint64_t> shape(step.shape().begin(), step.shape().end());
  return compare::Compare(expected->bytes(), actual->bytes(), static_cast<compare::DType>(step.dtype()), shape);
}

// Says how output and golden differ.
void Explain(const v1::CompareStep& step, const compare::Comparison& comparison, v1::CaseResult* result) {
  v1::BufferResult* buffer = result->mutable_launch()->add_outputs();
  buffer->set_name(step.output());
  buffer->set_bytes(comparison.actual_bytes);
  *buffer->mutable_comparison() = ComparisonMessage(comparison);
  result->set_reason(
      fmt::format("{} differs from {}: {}", step.output(), step.golden(), ComparisonSentence(buffer->comparison())));
}

v1::CaseResult CompareOne(AttemptContext& context, const v1::CompareStep& step, const SourceFiles& sources) {
  v1::CaseResult result;
  result.set_name(CaseName(step));
  const auto end = [&](v1::CaseOutcome outcome, std::string reason) {
    result.set_outcome(outcome);
    result.set_reason(std::move(reason));
    return result;
  };
  if (const absl::Status golden = sources.CheckUnchanged(context, step.golden()); !golden.ok()) {
    return end(v1::CASE_OUTCOME_BAD_FILE, std::string(golden.message()));
  }
  if (context.opened.HasOpened("src/" + step.golden())) {
    context.NotCovered(
        fmt::format("a step opened {}, with which {} is compared: it may be a copy", step.golden(), step.output()));
  }
  const std::string wanted = sources.DigestOf(step.golden());
  result.add_golden_sha256(wanted);
  if (std::string fault = GoldenFault(step, sources.SizeOf(step.golden())); !fault.empty()) {
    return end(v1::CASE_OUTCOME_BAD_FILE, std::move(fault));
  }
  const absl::StatusOr<WorkFolder::File> output = context.folder.Open(step.output());
  if (!output.ok()) return end(v1::CASE_OUTCOME_FAILED, std::string(output.status().message()));
  const std::string pin_fault = sources.PinFault(step.golden());
  // Equal bytes decide, but for a bool that is neither 0 nor 1. A file of another length is not read: it may be a hole
  // of a terabyte.
  bool same = output->size == sources.SizeOf(step.golden());
  if (same) {
    const absl::StatusOr<FileDigests::Value> value = context.settings.digests->Of(output->Link());
    if (!value.ok()) return end(v1::CASE_OUTCOME_INFRA, std::string(value.status().message()));
    same = value->digest.Hex() == wanted;
  }
  std::optional<compare::Comparison> comparison;
  if (!same || step.dtype() == v1::DTYPE_BOOL) comparison = CompareBytes(context, step);
  if (!same || (step.dtype() == v1::DTYPE_BOOL && !(comparison.has_value() && comparison->equal))) {
    end(v1::CASE_OUTCOME_MISMATCH, fmt::format("{} differs from {}", step.output(), step.golden()));
    if (comparison.has_value()) Explain(step, *comparison, &result);
    if (!pin_fault.empty()) result.set_reason(fmt::format("{} (and {})", result.reason(), pin_fault));
    return result;
  }
  if (!pin_fault.empty()) return end(v1::CASE_OUTCOME_UNPINNED_GOLDEN, pin_fault);
  return end(v1::CASE_OUTCOME_PASS, "");
}

// What the step must make may not be there before it. Empty when all is well, else the file's name.
std::string ThereBefore(const AttemptContext& context, const v1::RunStep& run) {
  if (run.has_report() && context.folder.Exists(run.report().file())) return run.report().file();
  for (const v1::CompareStep& compare : run.compare()) {
    if (context.folder.Exists(compare.output())) return compare.output();
  }
  return "";
}

v1::Outcome Launch(AttemptContext& context, int* exit_status) {
  const v1::RunStep& run = context.lane.run();
  StepCommand command;
  command.name = "run";
  command.argv = {run.argv().begin(), run.argv().end()};
  command.env = run.env();
  context.Progress(command.name, 0, 0);
  context.Note(fmt::format("run: {}", fmt::join(command.argv, " ")));
  StepProcess process;
  process.result.set_name(command.name);
  *process.result.mutable_argv() = run.argv();
  process.result.set_exit_status(-1);
  // A program of the suite's own is no tool: asking it for its version would run it.
  std::optional<v1::Outcome> outcome;
  if (command.argv[0].find('/') == std::string::npos) outcome = MeasureTool(context, command.argv[0], command.name);
  if (const std::string before = ThereBefore(context, run); !outcome && !before.empty()) {
    outcome = MakeOutcome(v1::VERDICT_INFRA, "report", fmt::format("{} is there before the step", before));
  }
  if (!outcome) {
    process = RunStepProcess(context, command);
    outcome = process.early;
    const bool failed = process.result.signal() != 0 || (!run.has_report() && process.result.exit_status() != 0);
    if (!outcome && failed) {
      outcome = context.Blame(MakeOutcome(v1::VERDICT_FAIL, "run", fmt::format("run ended with {}", process.End())));
    }
  }
  *exit_status = process.result.exit_status();
  AddStep(context, v1::STEP_KIND_RUN, std::move(process.result), outcome.value_or(Pass()));
  return outcome.value_or(Pass());
}

}  // namespace

v1::Outcome RunProgram(AttemptContext& context, const SourceFiles& sources) {
  const v1::RunStep& run = context.lane.run();
  int exit_status = -1;
  v1::Outcome outcome = Launch(context, &exit_status);
  if (outcome.verdict() != v1::VERDICT_PASS) return outcome;

  if (run.has_report()) {
    outcome = context.Blame(ReadReport(context, run.report(), exit_status));
    v1::StepResult step;
    step.set_name("report");
    AddStep(context, v1::STEP_KIND_REPORT, std::move(step), outcome);
    if (const auto full = KeepFiles(context, {run.report().file()})) return *full;
  }
  for (const v1::CompareStep& compare : run.compare()) {
    v1::CaseResult result = CompareOne(context, compare, sources);
    v1::StepResult step;
    step.set_name(result.name());
    google::protobuf::RepeatedPtrField<v1::CaseResult> alone;
    *alone.Add() = result;
    AddStep(context, v1::STEP_KIND_COMPARE, std::move(step), matrix::OutcomeOfCases(alone, 1));
    if (result.outcome() != v1::CASE_OUTCOME_PASS && context.folder.Exists(compare.output())) {
      if (const auto full = KeepFiles(context, {compare.output()})) return *full;
    }
    *context.evidence.add_cases() = std::move(result);
  }
  if (outcome.verdict() != v1::VERDICT_PASS) return outcome;
  return matrix::OutcomeOfCases(context.evidence.cases(), matrix::PlannedCases(context.suite(), context.lane));
}

}  // namespace pyptox::agent
