// What an agent's core wants done. The shell makes the journal entries durable, and only then performs the actions, in
// order.
#ifndef PYPTOX_AGENT_CORE_EFFECT_H_
#define PYPTOX_AGENT_CORE_EFFECT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "agent/core/journal_entry.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// Run it; AttemptDone answers. At most once for an attempt and journal.
struct StartAttempt {
  v1::Assign assign;
};

// End it, whatever it does; its AttemptDone says CANCELLED, or what it ended with just before. A repeat, or one for an
// attempt that has just ended, is ignored.
struct KillAttempt {
  uint64_t attempt_id = 0;
  std::string reason;  // one sentence, for the log
};

// On the link of this number; dropped when that is gone.
struct Send {
  uint64_t link = 0;
  v1::AgentMessage message;
};

// ArtifactsUploaded answers, when all of them are at the controller or unreadable. When the link ends first nothing
// needs to answer: the next one asks again.
struct UploadThenResend {
  uint64_t attempt_id = 0;
  std::vector<std::string> sha256;
};

// Its work folder is not needed any more, if there is one.
struct RemoveAttemptFolder {
  uint64_t attempt_id = 0;
};

// The controller has been silent for too long: end the stream and connect anew. LinkDown may follow.
struct DropLink {
  uint64_t link = 0;
  std::string reason;
};

using Action = std::variant<StartAttempt, KillAttempt, Send, UploadThenResend, RemoveAttemptFolder, DropLink>;

struct Effects {
  std::vector<JournalEntry> journal;
  std::vector<Action> actions;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_EFFECT_H_
