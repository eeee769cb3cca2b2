// What can happen to an agent.
#ifndef PYPTOX_AGENT_CORE_EVENT_H_
#define PYPTOX_AGENT_CORE_EVENT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "agent/core/journal_entry.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::agent {

// First event, once. `epoch` is one higher than at the last start on this journal, and durable.
struct JournalLoaded {
  std::string agent;
  std::string version;
  std::string journal_id;
  uint64_t epoch = 0;
  std::vector<JournalEntry> entries;  // in the order in which they were appended
};

// A stream is open. `link` is the shell's number for it, higher than every one before.
struct LinkUp {
  uint64_t link = 0;
  std::vector<v1::Resource> resources;  // what is offered, with the facts observed now
};

struct LinkDown {
  uint64_t link = 0;
};

// Log acknowledgements may be left out: they pass the core by.
struct ControllerSaid {
  uint64_t link = 0;
  v1::ControllerMessage message;
};

// The executor is about to run an attempt's first step.
struct AttemptBegan {
  uint64_t attempt_id = 0;
};

struct AttemptProgressed {
  uint64_t attempt_id = 0;
  v1::Progress progress;
};

// The executor has ended an attempt that it was told to start: exactly once for each, killed ones too. None of its
// processes is left. Artifacts were uploaded as far as the link allowed.
struct AttemptDone {
  uint64_t attempt_id = 0;
  v1::Evidence evidence;
};

// Answers UploadThenResend. `unreadable`: digests that are wanted and can't be read here any more.
struct ArtifactsUploaded {
  uint64_t attempt_id = 0;
  std::vector<std::string> unreadable;
};

// Free space went below the floor, or above it again.
struct DiskFloor {
  bool below = false;
};

// Time has passed; at least every 500 ms.
struct Tick {};

using Event = std::variant<JournalLoaded, LinkUp, LinkDown, ControllerSaid, AttemptBegan, AttemptProgressed,
                           AttemptDone, ArtifactsUploaded, DiskFloor, Tick>;

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_EVENT_H_
