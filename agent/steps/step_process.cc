#include "agent/steps/step_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "agent/probe/toolchain.h"
#include "matrix/verdict.h"

namespace pyptox::agent {
namespace {

constexpr uint32_t kDefaultSilenceSeconds = 600;

v1::Outcome CouldNotStart(const std::string& step, const std::string& program, const absl::Status& status) {
  const std::string reason = fmt::format("{}: {}", step, std::string(status.message()));
  // The suite's own program is for another machine, or no program: not the host's fault, and no better next time.
  if (absl::IsFailedPrecondition(status) && program.find('/') != std::string::npos) {
    return matrix::MakeOutcome(v1::VERDICT_FAIL, "start", reason);
  }
  if (absl::IsNotFound(status)) return matrix::MakeOutcome(v1::VERDICT_BLOCKED_TOOLCHAIN, "absent", reason);
  return matrix::MakeOutcome(v1::VERDICT_INFRA, "start", reason);
}

// What the process's end says about the attempt.
std::optional<v1::Outcome> EarlyEnd(ProcessOutcome::End end, const std::string& step) {
  switch (end) {
    case ProcessOutcome::End::kCancelled:
      return matrix::MakeOutcome(v1::VERDICT_CANCELLED, "", fmt::format("{} was cancelled", step));
    case ProcessOutcome::End::kRunLimit:
      return matrix::MakeOutcome(v1::VERDICT_TIMEOUT, "run",
                                 fmt::format("the attempt reached its limit `run_s` in {}", step));
    case ProcessOutcome::End::kSilenceLimit:
      return matrix::MakeOutcome(v1::VERDICT_TIMEOUT, "silence",
                                 fmt::format("{} printed nothing for its limit `silence_s`", step));
    default:
      return std::nullopt;
  }
}

void AddWarnings(AttemptContext& context, const std::string& step, const ProcessOutcome& outcome) {
  if (!outcome.tree_empty) {
    context.unproved = true;
    context.NotCovered(fmt::format("{}: it could not be proved that all its processes are gone", step));
  }
  if (outcome.leftover > 0) {
    context.NotCovered(fmt::format("{} left {} processes behind, which were killed", step, outcome.leftover));
  }
  if (outcome.observed && outcome.unresolved > 0) {
    context.NotCovered(fmt::format("{}: {} opened files are not listed", step, outcome.unresolved));
  }
}

}  // namespace

std::string StepProcess::End() const {
  if (result.signal() != 0) return fmt::format("signal {} ({})", result.signal(), strsignal(result.signal()));
  return fmt::format("exit status {}", result.exit_status());
}

std::vector<std::string> StepEnvironment(const AttemptContext& context,
                                         const google::protobuf::RepeatedPtrField<v1::EnvVar>& extra) {
  std::map<std::string, std::string> variables = {
      {"PATH", context.settings.path},
      {"HOME", context.settings.home},
      {"LANG", "C.UTF-8"},
      {"TMPDIR", context.folder.path() + "/tmp"},
      {"PYPTOX_ATTEMPT_DIR", context.folder.path()},
      {"PYPTOX_RESOURCE", context.assign.resource()},
      {"PYPTOX_JOB_ID", std::to_string(context.assign.job_id())},
      {"PYPTOX_ATTEMPT_ID", std::to_string(context.id())},
  };
  for (const v1::EnvVar& variable : extra) variables[variable.name()] = variable.value();
  std::vector<std::string> env;
  for (const auto& [name, value] : variables) env.push_back(fmt::format("{}={}", name, value));
  return env;
}

StepProcess RunStepProcess(AttemptContext& context, const StepCommand& command) {
  StepProcess process;
  process.result.set_name(command.name);
  *process.result.mutable_argv() = {command.argv.begin(), command.argv.end()};
  *process.result.mutable_env() = command.env;
  process.result.set_exit_status(-1);
  if ((process.early = context.Interrupted())) return process;

  ProcessSpec spec;
  absl::StatusOr<std::string> program = FindProgram(command.argv[0], context.settings.path, context.folder.path());
  if (!program.ok()) {
    process.early = CouldNotStart(command.name, command.argv[0], program.status());
    return process;
  }
  spec.program = *std::move(program);
  spec.argv = command.argv;
  spec.env = StepEnvironment(context, command.env);
  spec.cwd = context.folder.path();
  const Duration left = context.deadline - ReadClocks().mono;
  const bool own_limit = command.limit.ns > 0 && command.limit < left;
  spec.run_limit = std::max(own_limit ? command.limit : left, Milliseconds(1));
  const uint32_t silence = context.lane.limits().silence_s();
  spec.silence_limit = Seconds(silence > 0 ? silence : kDefaultSilenceSeconds);
  spec.kill_grace = context.settings.kill_grace;
  spec.mode = context.settings.mode;

  const OutputSink into_log = [&context](std::string_view piece) { context.Log(piece); };
  const absl::StatusOr<ProcessOutcome> outcome =
      RunProcess(spec, context.settings.digests, &context.stop, command.output ? command.output : into_log);
  if (!outcome.ok()) {
    process.early = CouldNotStart(command.name, command.argv[0], outcome.status());
    return process;
  }
  process.result.set_exit_status(outcome->exit_status);
  process.result.set_signal(outcome->signal);
  process.result.set_duration_ms(static_cast<uint64_t>(outcome->elapsed.ns / 1'000'000));
  process.result.set_max_rss_kib(outcome->max_rss_kib);
  context.opened.AppendNew(outcome->opened, &process.result);
  AddWarnings(context, command.name, *outcome);
  process.limit_reached = own_limit && outcome->end == ProcessOutcome::End::kRunLimit;
  if (!process.limit_reached) process.early = EarlyEnd(outcome->end, command.name);
  return process;
}

}  // namespace pyptox::agent
