#include <fmt/format.h>

#include <map>

#include "agent/core/step.h"

namespace pyptox::agent {

absl::Status CheckInvariants(const State& state) {
  const auto broken = [](std::string text) { return absl::InternalError(std::move(text)); };
  if (state.welcomed && state.link == 0) return broken("welcomed on no link");
  std::map<std::string, uint64_t> running;  // by lock key
  for (const auto& [id, entry] : state.attempts) {
    if (entry.unwanted && entry.phase != Phase::kRunning) return broken(fmt::format("attempt {} is not dropped", id));
    if (entry.assign.has_spec() != (entry.phase == Phase::kWaiting)) {
      return broken(fmt::format("attempt {} has a spec that nobody needs, or lacks it", id));
    }
    if (entry.phase == Phase::kFinished && entry.finished.attempt_id() != id) {
      return broken(fmt::format("attempt {} has no result", id));
    }
    for (const v1::HeldLock& lock : entry.assign.locks()) {
      const auto seen = state.tokens.find(lock.key());
      if (seen == state.tokens.end() || seen->second < lock.token()) {
        return broken(fmt::format("attempt {}: token {} of {} was not seen", id, lock.token(), lock.key()));
      }
      if (entry.phase != Phase::kRunning) continue;
      if (const auto [other, is_new] = running.emplace(lock.key(), id); !is_new) {
        return broken(fmt::format("attempts {} and {} both run under {}", other->second, id, lock.key()));
      }
    }
  }
  for (const auto& [id, entry] : state.attempts) {
    if (entry.phase != Phase::kWaiting) continue;
    bool blocked = false;
    for (const v1::HeldLock& lock : entry.assign.locks()) blocked = blocked || running.contains(lock.key());
    if (!blocked) return broken(fmt::format("attempt {} waits for nothing", id));
  }
  return absl::OkStatus();
}

}  // namespace pyptox::agent
