#include "agent/steps/attempt_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/steps/artifact_keeper.h"
#include "agent/steps/attempt_context.h"
#include "agent/steps/build_steps.h"
#include "agent/steps/evidence_size.h"
#include "agent/steps/evidence_text.h"
#include "agent/steps/kernel_step.h"
#include "agent/steps/run_step.h"
#include "agent/steps/source_files.h"
#include "backends/api/backend.h"
#include "backends/api/target.h"
#include "base/file_io.h"
#include "base/relative_path.h"
#include "base/version.h"
#include "matrix/suite_check.h"
#include "matrix/verdict.h"

namespace pyptox::agent {
namespace {

using matrix::MakeOutcome;

constexpr uint32_t kDefaultRunSeconds = 3600;
constexpr size_t kMaxKeptByName = 1000;
constexpr char kLogName[] = "log/output.log";

v1::Evidence Failed(v1::Outcome outcome) {
  v1::Evidence evidence;
  *evidence.mutable_outcome() = std::move(outcome);
  evidence.set_agent_version(kVersion);
  return evidence;
}

// The controller has checked the suite; this is about what could harm this host.
absl::Status CheckSpec(const v1::JobSpec& spec) {
  for (const v1::Case& one : spec.suite().cases()) {
    if (absl::Status status = CheckName(one.name()); !status.ok()) return status;
    for (const v1::Buffer& buffer : one.buffers()) {
      if (absl::Status status = CheckName(buffer.name()); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

class AttemptRun {
 public:
  AttemptRun(AttemptContext context, const backends::Backend& backend)
      : context_(std::move(context)), backend_(backend) {}
  v1::Evidence Do();

 private:
  v1::Outcome RunLane();
  v1::Outcome RunSteps(const backends::Plan& plan, const SourceFiles& sources);
  std::optional<v1::Outcome> MakePlan(backends::Plan* plan);
  void BlockCases(const std::string& reason);
  void Describe();
  void KeepAndUpload();
  bool LogIsKept() const;

  AttemptContext context_;
  const backends::Backend& backend_;
};

v1::Evidence AttemptRun::Do() {
  v1::Evidence& evidence = context_.evidence;
  evidence.set_agent_version(kVersion);
  const std::vector<v1::Fact> before = context_.settings.facts(context_.assign.resource());
  *evidence.mutable_facts_start() = {before.begin(), before.end()};
  context_.news.began(context_.id());
  *evidence.mutable_outcome() = RunLane();
  const std::vector<v1::Fact> after = context_.settings.facts(context_.assign.resource());
  *evidence.mutable_facts_end() = {after.begin(), after.end()};
  Describe();
  KeepAndUpload();
  MakeTextsValid(&evidence);
  FitEvidence(&evidence);
  return std::move(evidence);
}

v1::Outcome AttemptRun::RunLane() {
  backends::Plan plan;
  if (std::optional<v1::Outcome> refused = MakePlan(&plan)) return *refused;
  const absl::StatusOr<uint64_t> free = FreeBytes(context_.settings.work_root);
  if (!free.ok()) return InfraOutcome("work_folder", free.status());
  if (*free < context_.settings.free_space_floor) {
    return MakeOutcome(v1::VERDICT_INFRA, "disk_full",
                       fmt::format("{} bytes are free, the floor is {}", *free, context_.settings.free_space_floor));
  }
  context_.Progress("sources", 0, 0);
  const absl::StatusOr<SourceFiles> sources = SourceFiles::Materialise(context_);
  if (!sources.ok()) {
    if (std::optional<v1::Outcome> interrupted = context_.Interrupted()) return *interrupted;
    return InfraOutcome("sources", sources.status());
  }
  return RunSteps(plan, *sources);
}

std::optional<v1::Outcome> AttemptRun::MakePlan(backends::Plan* plan) {
  backends::FactMap facts;
  for (const v1::Fact& fact : context_.evidence.facts_start()) facts[fact.key()] = fact.value();
  backends::PlanRequest request;
  request.target = backends::FindTarget(context_.lane.target());
  request.facts = &facts;
  request.kernel = context_.lane.has_kernel() ? &context_.lane.kernel() : nullptr;
  request.run = context_.lane.has_run() ? &context_.lane.run() : nullptr;
  request.runner_dir = context_.settings.runner_dir;
  if (request.target == nullptr) {
    return MakeOutcome(v1::VERDICT_INFRA, "target",
                       fmt::format("this agent does not know the target {}", context_.lane.target()));
  }
  *plan = backend_.MakePlan(request);
  context_.evidence.set_evidence_class(plan->evidence_class);
  for (const std::string& sentence : plan->not_covered) context_.NotCovered(sentence);
  if (!plan->refused.has_value()) return std::nullopt;
  if (plan->refused->verdict() == v1::VERDICT_BLOCKED_DEVICE) BlockCases(plan->refused->reason());
  context_.Note(fmt::format("refused: {}", plan->refused->reason()));
  return plan->refused;
}

void AttemptRun::BlockCases(const std::string& reason) {
  if (!context_.lane.has_kernel()) return;
  for (const v1::Case* one : WantedCases(context_.assign.spec())) {
    v1::CaseResult* result = context_.evidence.add_cases();
    result->set_name(one->name());
    const std::string skip = SkipReason(context_.lane, one->name());
    result->set_outcome(skip.empty() ? v1::CASE_OUTCOME_BLOCKED_DEVICE : v1::CASE_OUTCOME_SKIPPED);
    result->set_reason(skip.empty() ? reason : skip);
  }
}

v1::Outcome AttemptRun::RunSteps(const backends::Plan& plan, const SourceFiles& sources) {
  int number = 0;
  for (const v1::CompileStep& step : context_.lane.compile()) {
    if (std::optional<v1::Outcome> outcome = RunCompile(context_, step, ++number)) return *outcome;
  }
  number = 0;
  for (const v1::CheckStep& step : context_.lane.checks()) {
    if (std::optional<v1::Outcome> outcome = RunCheck(context_, step, ++number)) return *outcome;
  }
  if (!context_.lane.has_kernel()) return RunProgram(context_, sources);
  // An emulator is a tool too; the runner is our own.
  if (plan.runner_argv[0].find('/') == std::string::npos) {
    if (std::optional<v1::Outcome> absent = MeasureTool(context_, plan.runner_argv[0], "kernel")) return *absent;
  }
  if (std::optional<v1::Outcome> ended = RunKernels(context_, plan, sources)) return *ended;
  return matrix::OutcomeOfCases(context_.evidence.cases(),
                                static_cast<uint32_t>(WantedCases(context_.assign.spec()).size()));
}

void AttemptRun::Describe() {
  v1::Evidence& evidence = context_.evidence;
  const bool traced = context_.settings.mode == TreeMode::kTraced;
  evidence.set_cleanup(context_.unproved ? "unproved" : traced ? "ptrace" : "subreaper");
  evidence.set_file_access(traced ? "ptrace" : "unobserved");
  if (!traced) context_.NotCovered("which files the steps opened was not observed: ptrace is not permitted here");
  const v1::Outcome& outcome = evidence.outcome();
  context_.Note(fmt::format("ended: {}{}{}", matrix::OutcomeWord(outcome), outcome.reason().empty() ? "" : ": ",
                            outcome.reason()));
}

// As the agent wrote it: a step can reach the file.
bool AttemptRun::LogIsKept() const {
  const auto& kept = context_.evidence.artifacts();
  return std::any_of(kept.begin(), kept.end(), [&](const v1::FileEntry& file) {
    return file.name() == kLogName && file.sha256() == context_.log->digest().Hex();
  });
}

void AttemptRun::KeepAndUpload() {
  v1::Evidence& evidence = context_.evidence;
  std::optional<v1::Outcome> full = KeepFolder(context_, "artifacts", kMaxKeptByName);
  const absl::Status finished = context_.log->Finish();
  context_.news.log_grew(context_.id(), context_.log->size());
  evidence.set_log_bytes(context_.log->produced());
  evidence.set_log_bytes_kept(context_.log->kept());
  if (!full) full = KeepFiles(context_, {kLogName});
  if (!full && !finished.ok()) full = InfraOutcome("log", finished);
  if (!full && !LogIsKept())
    full = MakeOutcome(v1::VERDICT_INFRA, "log", "a step removed or changed the attempt's log");
  // A result whose log or files are lost proves nothing; a failure stays one.
  if (full && evidence.outcome().verdict() == v1::VERDICT_PASS) *evidence.mutable_outcome() = *full;

  std::vector<std::string> digests;
  for (const v1::FileEntry& file : evidence.artifacts()) digests.push_back(file.sha256());
  const auto stop = [this] { return context_.stop.requested(); };
  // What does not travel now is asked for when the result is there.
  if (!digests.empty() && context_.settings.upload(digests, stop).ok()) return;
}

}  // namespace

v1::Evidence RunAttempt(const AttemptSettings& settings, const AttemptNews& news, const v1::Assign& assign,
                        const StopSignal& stop) {
  const v1::Lane* lane = matrix::FindLane(assign.spec().suite(), assign.spec().lane());
  if (lane == nullptr) {
    return Failed(MakeOutcome(v1::VERDICT_INFRA, "spec", fmt::format("no lane {}", assign.spec().lane())));
  }
  const auto backend = settings.resources.find(assign.resource());
  if (backend == settings.resources.end()) {
    return Failed(MakeOutcome(v1::VERDICT_INFRA, "resource", fmt::format("no resource {}", assign.resource())));
  }
  if (const absl::Status status = CheckSpec(assign.spec()); !status.ok()) return Failed(InfraOutcome("spec", status));
  absl::StatusOr<WorkFolder> folder = WorkFolder::Create(settings.work_root, assign.attempt_id());
  if (!folder.ok()) return Failed(InfraOutcome("work_folder", folder.status()));
  absl::StatusOr<std::unique_ptr<CappedLog>> log = CappedLog::Create(folder->path() + "/" + kLogName);
  if (!log.ok()) return Failed(InfraOutcome("log", log.status()));

  const uint32_t limit = lane->limits().run_s() > 0 ? lane->limits().run_s() : kDefaultRunSeconds;
  const MonoTime deadline = ReadClocks().mono + Seconds(limit);
  OpenedList opened(folder->path());
  opened.AddToolFolder(settings.runner_dir);
  return AttemptRun(AttemptContext{.settings = settings,
                                   .news = news,
                                   .assign = assign,
                                   .lane = *lane,
                                   .stop = stop,
                                   .deadline = deadline,
                                   .folder = *std::move(folder),
                                   .log = *std::move(log),
                                   .opened = std::move(opened)},
                    *backend->second)
      .Do();
}

}  // namespace pyptox::agent
