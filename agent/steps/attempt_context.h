// One attempt while it runs: what its steps share. Used by the attempt's own thread.
#ifndef PYPTOX_AGENT_STEPS_ATTEMPT_CONTEXT_H_
#define PYPTOX_AGENT_STEPS_ATTEMPT_CONTEXT_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "agent/exec/capped_log.h"
#include "agent/exec/stop_signal.h"
#include "agent/steps/attempt_settings.h"
#include "agent/steps/opened_list.h"
#include "agent/steps/work_folder.h"
#include "base/time_types.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

struct AttemptContext {
  const AttemptSettings& settings;
  const AttemptNews& news;
  const v1::Assign& assign;
  const v1::Lane& lane;
  const StopSignal& stop;
  MonoTime deadline;
  WorkFolder folder;
  std::unique_ptr<CappedLog> log;
  OpenedList opened;
  v1::Evidence evidence;
  // Set when the log could not be written.
  absl::Status log_status;
  // A process of a step could not be proved gone.
  bool unproved = false;

  const v1::Suite& suite() const { return assign.spec().suite(); }
  uint64_t id() const { return assign.attempt_id(); }

  // Appends to the log and tells about it.
  void Log(std::string_view bytes);
  // A line of the harness's own: `[pyptox: TEXT]`.
  void Note(std::string_view text);
  void Progress(std::string_view step, uint32_t cases_done, uint32_t cases_total) const;
  void NotCovered(std::string sentence);

  // CANCELLED or TIMEOUT(run) when the attempt shall end now.
  std::optional<v1::Outcome> Interrupted() const;
  // The outcome of a failed step, or INFRA(disk_full) when it failed for want of space.
  v1::Outcome Blame(v1::Outcome outcome) const;
};

// INFRA(disk_full) for RESOURCE_EXHAUSTED, else INFRA(kind), with the status's text.
v1::Outcome InfraOutcome(std::string_view kind, const absl::Status& status);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_ATTEMPT_CONTEXT_H_
