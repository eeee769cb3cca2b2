// The journal and the state say the same.
#ifndef PYPTOX_AGENT_CORE_JOURNAL_H_
#define PYPTOX_AGENT_CORE_JOURNAL_H_

#include <vector>

#include "agent/core/attempts.h"
#include "agent/core/event.h"
#include "agent/core/journal_entry.h"

namespace pyptox::agent {

// Builds the state of a new epoch. What had no result is interrupted.
void LoadJournal(Turn& turn, const JournalLoaded& event);

// The shortest journal from which LoadJournal builds this state again; for rewriting one that has grown.
std::vector<JournalEntry> CompactJournal(const State& state);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_JOURNAL_H_
