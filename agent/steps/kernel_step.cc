#include "agent/steps/kernel_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "agent/steps/artifact_keeper.h"
#include "agent/steps/case_judge.h"
#include "agent/steps/case_manifest.h"
#include "agent/steps/step_process.h"
#include "backends/runner/manifest.h"
#include "base/message_json.h"
#include "base/relative_path.h"
#include "matrix/verdict.h"

namespace pyptox::agent {
namespace {

// The runner limits its kernel itself; after this much more it is taken for stuck.
constexpr Duration kRunnerGrace = Seconds(20);
constexpr uint64_t kMaxResultBytes = 16 << 20;

// One case on its way.
class CaseRun {
 public:
  CaseRun(AttemptContext& context, const backends::Plan& plan, const SourceFiles& sources, const v1::Case& one)
      : context_(context), plan_(plan), sources_(sources), case_(one), folder_("kernel/" + one.name()) {}

  // Nothing when the case has its result, else how the attempt was ended. Adds what the process opened to `step`.
  std::optional<v1::Outcome> Run(v1::CaseResult* result, v1::StepResult* step);

 private:
  absl::Status Prepare();
  std::optional<v1::Outcome> Launch(v1::StepResult* step, std::string* fault);
  CaseSight Look() const;
  void LookAtOutput(const v1::Buffer& buffer, uint64_t bytes, CaseSight* sight) const;
  std::optional<v1::Outcome> Keep(const v1::CaseResult& result) const;

  AttemptContext& context_;
  const backends::Plan& plan_;
  const SourceFiles& sources_;
  const v1::Case& case_;
  const std::string folder_;
  v1::LaunchManifest manifest_;
  // The same as the runner understands it: storage sizes are filled in.
  runner::Manifest parsed_;
};

std::optional<v1::Outcome> CaseRun::Run(v1::CaseResult* result, v1::StepResult* step) {
  result->set_name(case_.name());
  const absl::Status prepared = Prepare();
  if (absl::IsResourceExhausted(prepared)) return InfraOutcome("case", prepared);
  std::string fault = std::string(prepared.message());
  if (prepared.ok()) {
    if (std::optional<v1::Outcome> ended = Launch(step, &fault)) return ended;
  }
  v1::LaunchResult launch;
  if (fault.empty()) {
    const absl::StatusOr<std::string> text = context_.folder.Read(folder_ + "/result.json", kMaxResultBytes);
    const absl::Status read = text.ok() ? JsonToMessage(*text, "result.json", &launch) : text.status();
    if (!read.ok()) fault = fmt::format("the runner's result: {}", std::string(read.message()));
  }
  if (fault.empty()) {
    JudgeCase(launch, Look(), result);
  } else {
    result->set_outcome(v1::CASE_OUTCOME_INFRA);
    result->set_reason(fault);
  }
  for (const v1::Buffer& buffer : case_.buffers()) {
    if (buffer.has_golden()) result->add_golden_sha256(sources_.DigestOf(buffer.golden().path()));
  }
  return Keep(*result);
}

absl::Status CaseRun::Prepare() {
  absl::Status status = context_.folder.MakeFolder(folder_);
  if (status.ok()) status = context_.folder.MakeFolder(folder_ + "/out");
  if (!status.ok()) return status;
  manifest_ = MakeManifest(context_.lane, case_, folder_ + "/out");
  const absl::StatusOr<std::string> text = MessageToCanonicalJson(manifest_);
  if (!text.ok()) return text.status();
  absl::StatusOr<runner::Manifest> parsed = runner::ParseManifest(*text, "manifest");
  if (!parsed.ok()) return parsed.status();
  parsed_ = *std::move(parsed);
  return context_.folder.Write(folder_ + "/manifest.json", *text);
}

std::optional<v1::Outcome> CaseRun::Launch(v1::StepResult* step, std::string* fault) {
  StepCommand command;
  command.name = "kernel";
  command.argv = plan_.runner_argv;
  command.argv.push_back(folder_ + "/manifest.json");
  command.argv.push_back(folder_ + "/result.json");
  for (const auto& [name, value] : plan_.env) {
    v1::EnvVar* variable = command.env.Add();
    variable->set_name(name);
    variable->set_value(value);
  }
  command.limit = Seconds(CaseSeconds(context_.lane)) + kRunnerGrace;
  StepProcess process = RunStepProcess(context_, command);
  if (step->argv().empty()) {
    *step->mutable_argv() = process.result.argv();
    *step->mutable_env() = process.result.env();
  }
  step->mutable_opened()->MergeFrom(process.result.opened());
  step->set_max_rss_kib(std::max(step->max_rss_kib(), process.result.max_rss_kib()));
  step->set_duration_ms(step->duration_ms() + process.result.duration_ms());
  if (process.early.has_value()) return process.early;
  if (process.limit_reached) {
    *fault = "the runner did not end in time";
  } else if (!process.exited(0)) {
    *fault = fmt::format("the runner ended with {}", process.End());
  }
  return std::nullopt;
}

CaseSight CaseRun::Look() const {
  CaseSight sight;
  sight.repeat = manifest_.repeat();
  for (int i = 0; i < case_.buffers_size(); ++i) {
    const v1::Buffer& buffer = case_.buffers(i);
    if (buffer.has_file() && sight.source_fault.empty()) {
      sight.source_fault = std::string(sources_.CheckUnchanged(context_, buffer.file().path()).message());
    }
    if (buffer.has_golden()) LookAtOutput(buffer, parsed_.buffers[static_cast<size_t>(i)].bytes, &sight);
  }
  return sight;
}

void CaseRun::LookAtOutput(const v1::Buffer& buffer, uint64_t bytes, CaseSight* sight) const {
  OutputSight output;
  output.name = buffer.name();
  const absl::StatusOr<std::string> golden = sources_.RegionDigest(context_, buffer.golden(), bytes);
  if (golden.ok()) output.golden_sha256 = *golden;
  // A golden of another length is the runner's to report, and the comparison of digests fails all the same.
  if (absl::IsFailedPrecondition(golden.status()) && sight->source_fault.empty()) {
    sight->source_fault = std::string(golden.status().message());
  }
  if (sight->pin_fault.empty()) sight->pin_fault = sources_.PinFault(buffer.golden().path());
  const absl::StatusOr<WorkFolder::File> file =
      context_.folder.Open(fmt::format("{}/out/{}.bin", folder_, buffer.name()));
  if (!file.ok()) {
    output.fault = std::string(file.status().message());
  } else if (file->size != bytes) {
    output.fault = fmt::format("output {} has {} bytes instead of {}", buffer.name(), file->size, bytes);
  } else if (const auto value = context_.settings.digests->Of(file->Link()); value.ok()) {
    output.sha256 = value->digest.Hex();
  } else {
    output.fault = std::string(value.status().message());
  }
  sight->outputs.push_back(std::move(output));
}

std::optional<v1::Outcome> CaseRun::Keep(const v1::CaseResult& result) const {
  constexpr size_t kMostFiles = 1024;
  std::optional<v1::Outcome> full;
  if (result.outcome() != v1::CASE_OUTCOME_PASS) {
    full = KeepFolder(context_, folder_, kMostFiles);
  } else if (context_.lane.kernel().safetensors()) {
    full = KeepFiles(context_, {folder_ + "/out/outputs.safetensors"});
  }
  if (const absl::Status removed = context_.folder.RemoveFolder(folder_); !removed.ok()) {
    context_.Note(fmt::format("{} stays: {}", folder_, std::string(removed.message())));
  }
  return full;
}

}  // namespace

std::string SkipReason(const v1::Lane& lane, const std::string& name) {
  for (const v1::Skip& skip : lane.skip()) {
    if (GlobMatches(skip.case_(), name)) return skip.reason();
  }
  return "";
}

std::vector<const v1::Case*> WantedCases(const v1::JobSpec& spec) {
  const std::set<std::string> picked(spec.cases().begin(), spec.cases().end());
  std::vector<const v1::Case*> wanted;
  for (const v1::Case& one : spec.suite().cases()) {
    if (picked.empty() || picked.contains(one.name())) wanted.push_back(&one);
  }
  return wanted;
}

std::optional<v1::Outcome> RunKernels(AttemptContext& context, const backends::Plan& plan, const SourceFiles& sources) {
  const std::vector<const v1::Case*> cases = WantedCases(context.assign.spec());
  v1::StepResult step;
  step.set_kind(v1::STEP_KIND_KERNEL);
  step.set_name("kernel");
  context.Note(fmt::format("kernel: {} MANIFEST RESULT for {} cases", fmt::join(plan.runner_argv, " "), cases.size()));
  std::optional<v1::Outcome> ended;
  uint32_t done = 0;
  for (const v1::Case* one : cases) {
    context.Progress("kernel", done++, static_cast<uint32_t>(cases.size()));
    v1::CaseResult result;
    const std::string skip = SkipReason(context.lane, one->name());
    if (!skip.empty()) {
      result.set_name(one->name());
      result.set_outcome(v1::CASE_OUTCOME_SKIPPED);
      result.set_reason(skip);
      context.NotCovered(fmt::format("case {} is left out: {}", one->name(), skip));
    } else if ((ended = CaseRun(context, plan, sources, *one).Run(&result, &step))) {
      break;
    }
    context.Note(fmt::format("case {}: {}{}{}", result.name(), matrix::CaseOutcomeWord(result.outcome()),
                             result.reason().empty() ? "" : ": ", result.reason()));
    if (result.outcome() == v1::CASE_OUTCOME_INFRA) {
      v1::Outcome blame = context.Blame(matrix::MakeOutcome(v1::VERDICT_INFRA, "cases", result.reason()));
      if (blame.kind() != "cases") ended = std::move(blame);
    }
    *context.evidence.add_cases() = std::move(result);
    if (ended) break;
  }
  if (!ended) context.Progress("kernel", done, static_cast<uint32_t>(cases.size()));
  const auto planned = static_cast<uint32_t>(cases.size());
  *step.mutable_outcome() = ended ? *ended : matrix::OutcomeOfCases(context.evidence.cases(), planned);
  if (ended) step.set_exit_status(-1);
  *context.evidence.add_steps() = std::move(step);
  return ended;
}

}  // namespace pyptox::agent
