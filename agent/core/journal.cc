#include "agent/core/journal.h"

#include <algorithm>

namespace pyptox::agent {
namespace {

void See(State& state, const v1::HeldLock& lock) {
  uint64_t& seen = state.tokens[lock.key()];
  seen = std::max(seen, lock.token());
}

void Replay(Turn& turn, const Accepted& entry) {
  AttemptEntry& attempt = turn.state.attempts[entry.assign.attempt_id()];
  attempt.phase = Phase::kInterrupted;
  attempt.assign = entry.assign;
  for (const v1::HeldLock& lock : entry.assign.locks()) See(turn.state, lock);
}

void Replay(Turn& turn, const Finished& entry) {
  AttemptEntry& attempt = turn.state.attempts[entry.finished.attempt_id()];
  attempt.phase = Phase::kFinished;
  attempt.finished = entry.finished;
}

void Replay(Turn& turn, const Forgotten& entry) {
  turn.state.attempts.erase(entry.attempt_id);
  // The agent may have died before it removed it.
  turn.effects.actions.push_back(RemoveAttemptFolder{entry.attempt_id});
}

void Replay(Turn& turn, const TokenSeen& entry) { See(turn.state, entry.token); }

}  // namespace

void LoadJournal(Turn& turn, const JournalLoaded& event) {
  turn.state.agent = event.agent;
  turn.state.version = event.version;
  turn.state.journal_id = event.journal_id;
  turn.state.epoch = event.epoch;
  for (const JournalEntry& entry : event.entries) {
    std::visit([&](const auto& kind) { Replay(turn, kind); }, entry);
  }
}

std::vector<JournalEntry> CompactJournal(const State& state) {
  std::vector<JournalEntry> entries;
  for (const auto& [key, token] : state.tokens) {
    v1::HeldLock seen;
    seen.set_key(key);
    seen.set_token(token);
    entries.push_back(TokenSeen{seen});
  }
  for (const auto& [id, attempt] : state.attempts) {
    Accepted accepted{attempt.assign};
    accepted.assign.clear_spec();
    entries.push_back(std::move(accepted));
    if (attempt.phase == Phase::kFinished) entries.push_back(Finished{attempt.finished});
  }
  return entries;
}

}  // namespace pyptox::agent
