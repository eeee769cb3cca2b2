// Runs one program of a step in the attempt's folder, with the step's environment, into the attempt's log.
#ifndef PYPTOX_AGENT_STEPS_STEP_PROCESS_H_
#define PYPTOX_AGENT_STEPS_STEP_PROCESS_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/exec/run_process.h"
#include "agent/steps/attempt_context.h"
#include "google/protobuf/repeated_field.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

struct StepCommand {
  // `compile 1`.
  std::string name;
  // argv[0] is found on PATH, or relative to the attempt's folder when it has a slash.
  std::vector<std::string> argv;
  // Set on top of the documented variables.
  google::protobuf::RepeatedPtrField<v1::EnvVar> env;
  // Of this program alone, on top of the attempt's limits. Zero: none.
  Duration limit;
  // Where output goes; empty: into the log.
  OutputSink output;
};

struct StepProcess {
  // All but kind and outcome.
  v1::StepResult result;
  // Set when it did not end by itself, or could not be started.
  std::optional<v1::Outcome> early;
  // It reached StepCommand::limit. `early` is not set then.
  bool limit_reached = false;

  bool exited(int status) const { return !early && !limit_reached && result.exit_status() == status; }
  // `exit status 3`, `signal 11 (Segmentation fault)`.
  std::string End() const;
};

StepProcess RunStepProcess(AttemptContext& context, const StepCommand& command);

// The documented variables (PATH, HOME, LANG, TMPDIR, PYPTOX_*), then `extra`; a later one of the same name wins.
std::vector<std::string> StepEnvironment(const AttemptContext& context,
                                         const google::protobuf::RepeatedPtrField<v1::EnvVar>& extra);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_STEP_PROCESS_H_
