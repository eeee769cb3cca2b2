#include "agent/steps/build_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/probe/toolchain.h"
#include "agent/steps/artifact_keeper.h"
#include "agent/steps/step_process.h"
#include "agent/steps/tool_runner.h"
#include "backends/inspect/count_condition.h"
#include "backends/inspect/disassembly.h"
#include "backends/inspect/elf_header.h"
#include "matrix/verdict.h"

namespace pyptox::agent {
namespace {

using matrix::MakeOutcome;

// Text of a disassembly that is held in memory.
constexpr size_t kMaxDisassembly = 256 << 20;

// Ends a step: its result goes into the evidence, one line into the log.
std::optional<v1::Outcome> EndStep(AttemptContext& context, v1::StepKind kind, v1::StepResult result,
                                   std::optional<v1::Outcome> outcome) {
  if (outcome.has_value()) outcome = context.Blame(*std::move(outcome));
  result.set_kind(kind);
  *result.mutable_outcome() = outcome.value_or(MakeOutcome(v1::VERDICT_PASS, "", ""));
  context.Note(fmt::format("{}: {}{}{}", result.name(), matrix::OutcomeWord(result.outcome()),
                           result.outcome().reason().empty() ? "" : ": ", result.outcome().reason()));
  *context.evidence.add_steps() = std::move(result);
  return outcome;
}

// What was there before can't be told from what the step made.
std::optional<v1::Outcome> OutputsBefore(const AttemptContext& context, const v1::CompileStep& step) {
  for (const std::string& output : step.outputs()) {
    if (context.folder.Exists(output)) {
      return MakeOutcome(v1::VERDICT_FAIL, "no_output", fmt::format("{} is there before the step", output));
    }
  }
  return std::nullopt;
}

std::optional<v1::Outcome> OutputsAfter(const AttemptContext& context, const v1::CompileStep& step) {
  for (const std::string& output : step.outputs()) {
    const absl::StatusOr<WorkFolder::File> file = context.folder.Open(output);
    if (!file.ok()) {
      return MakeOutcome(v1::VERDICT_FAIL, "no_output",
                         fmt::format("the step succeeded, but {}", std::string(file.status().message())));
    }
    if (file->size == 0) {
      return MakeOutcome(v1::VERDICT_FAIL, "no_output", fmt::format("the step succeeded, but {} is empty", output));
    }
  }
  return std::nullopt;
}

std::optional<v1::Outcome> CheckElf(const AttemptContext& context, const v1::CheckStep& step) {
  const absl::StatusOr<WorkFolder::File> file = context.folder.Open(step.file());
  const absl::StatusOr<std::string> bytes =
      file.ok() ? context.folder.ReadStart(*file, backends::kElfHeaderBytes) : file.status();
  if (!bytes.ok()) return MakeOutcome(v1::VERDICT_FAIL, "check", std::string(bytes.status().message()));
  const absl::StatusOr<backends::ElfHeader> header = backends::ReadElfHeader(*bytes, step.file());
  if (!header.ok()) return MakeOutcome(v1::VERDICT_FAIL, "check", std::string(header.status().message()));
  const v1::ElfCheck& wanted = step.elf();
  if (wanted.bits() != 0 && wanted.bits() != header->bits) {
    return MakeOutcome(v1::VERDICT_FAIL, "check",
                       fmt::format("{} is a {}-bit file, not {}", step.file(), header->bits, wanted.bits()));
  }
  const std::string machine = backends::MachineName(header->machine);
  if (!wanted.machine().empty() && wanted.machine() != machine) {
    return MakeOutcome(v1::VERDICT_FAIL, "check",
                       fmt::format("{} is for {}, not {}", step.file(), machine, wanted.machine()));
  }
  return std::nullopt;
}

std::optional<v1::Outcome> CheckCounts(AttemptContext& context, const v1::CheckStep& step, StepProcess* process) {
  std::string text;
  bool too_long = false;
  StepCommand command;
  command.name = process->result.name();
  command.argv = {step.disassemble().begin(), step.disassemble().end()};
  command.output = [&](std::string_view piece) {
    too_long = too_long || text.size() + piece.size() > kMaxDisassembly;
    if (!too_long) text += piece;
  };
  if (std::optional<v1::Outcome> absent = MeasureTool(context, command.argv[0], command.name)) return absent;
  *process = RunStepProcess(context, command);
  if (process->early.has_value()) return process->early;
  if (!process->exited(0)) {
    context.Log(std::string_view(text).substr(0, 4096));
    return MakeOutcome(v1::VERDICT_INFRA, "disassembly",
                       fmt::format("{} ended with {}", command.argv[0], process->End()));
  }
  if (too_long) {
    return MakeOutcome(v1::VERDICT_INFRA, "disassembly",
                       fmt::format("{} printed more than {} bytes", command.argv[0], kMaxDisassembly));
  }
  const backends::InstructionCounts counts = backends::CountInstructions(text);
  // `zmm = 0` holds for nothing at all: an empty listing is no answer.
  if (counts.instructions == 0) {
    return MakeOutcome(v1::VERDICT_INFRA, "disassembly", fmt::format("{} printed no instruction", command.argv[0]));
  }
  std::vector<std::string> faults;
  for (const std::string& wanted : step.counts()) {
    const absl::StatusOr<backends::CountCondition> condition = backends::ParseCountCondition(wanted);
    if (!condition.ok()) {
      faults.emplace_back(condition.status().message());
    } else if (const std::optional<std::string> fault = backends::FaultOf(*condition, counts)) {
      faults.push_back(*fault);
    }
  }
  if (faults.empty()) return std::nullopt;
  return MakeOutcome(v1::VERDICT_FAIL, "check", fmt::format("{}: {}", step.file(), fmt::join(faults, "; ")));
}

}  // namespace

std::optional<v1::Outcome> MeasureTool(AttemptContext& context, const std::string& name, const std::string& step) {
  const auto& known = context.evidence.toolchains();
  if (std::any_of(known.begin(), known.end(), [&](const v1::Toolchain& tool) { return tool.name() == name; })) {
    return std::nullopt;
  }
  const AttemptSettings& settings = context.settings;
  const absl::StatusOr<v1::Toolchain> tool =
      MeasureToolchain(name, settings.path, context.folder.path(),
                       MakeToolRunner(settings.mode, settings.path, settings.home, settings.digests));
  if (absl::IsNotFound(tool.status())) {
    return MakeOutcome(v1::VERDICT_BLOCKED_TOOLCHAIN, "absent",
                       fmt::format("{}: {}", step, std::string(tool.status().message())));
  }
  if (!tool.ok()) return InfraOutcome("toolchain", tool.status());
  context.opened.AddToolOf(tool->path());
  *context.evidence.add_toolchains() = *tool;
  return std::nullopt;
}

std::optional<v1::Outcome> RunCompile(AttemptContext& context, const v1::CompileStep& step, int number) {
  StepCommand command;
  command.name = fmt::format("compile {}", number);
  command.argv = {step.argv().begin(), step.argv().end()};
  command.env = step.env();
  context.Progress(command.name, 0, 0);
  context.Note(fmt::format("{}: {}", command.name, fmt::join(command.argv, " ")));
  StepProcess process;
  process.result.set_name(command.name);
  *process.result.mutable_argv() = step.argv();
  process.result.set_exit_status(-1);
  std::optional<v1::Outcome> outcome = MeasureTool(context, command.argv[0], command.name);
  if (!outcome) outcome = OutputsBefore(context, step);
  if (!outcome) {
    process = RunStepProcess(context, command);
    outcome = process.early;
    if (!outcome && !process.exited(0)) {
      outcome = MakeOutcome(v1::VERDICT_FAIL, "compile", fmt::format("{} ended with {}", command.name, process.End()));
    }
    if (!outcome) outcome = OutputsAfter(context, step);
  }
  if (!outcome) outcome = KeepFiles(context, {step.outputs().begin(), step.outputs().end()});
  return EndStep(context, v1::STEP_KIND_COMPILE, std::move(process.result), std::move(outcome));
}

std::optional<v1::Outcome> RunCheck(AttemptContext& context, const v1::CheckStep& step, int number) {
  StepProcess process;
  process.result.set_name(fmt::format("check {}", number));
  *process.result.mutable_argv() = step.disassemble();
  process.result.set_exit_status(-1);
  context.Progress(process.result.name(), 0, 0);
  std::optional<v1::Outcome> outcome = context.Interrupted();
  if (!outcome && step.has_elf()) outcome = CheckElf(context, step);
  if (!outcome && step.counts_size() > 0) outcome = CheckCounts(context, step, &process);
  return EndStep(context, v1::STEP_KIND_CHECK, std::move(process.result), std::move(outcome));
}

}  // namespace pyptox::agent
