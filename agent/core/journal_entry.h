// One line of the agent's journal: what it was told, what it finished, what it may forget. The shell gives it bytes;
// its order in the variant is its kind on disk, so new kinds go to the end.
#ifndef PYPTOX_AGENT_CORE_JOURNAL_ENTRY_H_
#define PYPTOX_AGENT_CORE_JOURNAL_ENTRY_H_

#include <cstdint>
#include <variant>

#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Taken on; it may have been started. Its locks' tokens count as seen.
struct Accepted {
  v1::Assign assign;
};

// Its result; the last one counts.
struct Finished {
  v1::AttemptFinished finished;
};

// The controller has the result, or wants none.
struct Forgotten {
  uint64_t attempt_id = 0;
};

// Highest fencing token seen for a lock; only in a compacted journal.
struct TokenSeen {
  v1::HeldLock token;
};

using JournalEntry = std::variant<Accepted, Finished, Forgotten, TokenSeen>;

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_JOURNAL_ENTRY_H_
