#include "controller/core/resources.h"

#include <fmt/format.h>

namespace pyptox::controller {

std::string LockKeyOf(const std::string& resource) { return "resource/" + resource; }

uint64_t SessionFor(const State& state, const std::string& resource) {
  const auto found = state.resources.find(resource);
  if (found == state.resources.end() || found->second.state() == v1::RESOURCE_STATE_RELEASED) return 0;
  return state.agents.at(found->second.agent()).session;
}

v1::Resource DerivedResource(const State& state, const v1::Resource& resource) {
  v1::Resource derived = resource;
  derived.clear_reason();
  derived.clear_holder_job_id();
  derived.clear_holder_attempt_id();
  if (const auto holder = state.holders.find(resource.name()); holder != state.holders.end()) {
    derived.set_holder_attempt_id(holder->second);
    derived.set_holder_job_id(state.attempts.at(holder->second).attempt.job_id());
  }
  if (resource.state() == v1::RESOURCE_STATE_RELEASED) {
    derived.set_reason(fmt::format("agent {} no longer registers it", resource.agent()));
  } else if (state.agents.at(resource.agent()).session == 0) {
    derived.set_state(v1::RESOURCE_STATE_OFFLINE);
    derived.set_reason(fmt::format("agent {} is not connected", resource.agent()));
  } else if (derived.holder_attempt_id() != 0) {
    derived.set_state(v1::RESOURCE_STATE_BUSY);
    derived.set_reason(fmt::format("job {} holds it", derived.holder_job_id()));
  } else {
    derived.set_state(v1::RESOURCE_STATE_AVAILABLE);
  }
  return derived;
}

void RefreshResource(Turn& turn, const std::string& name) {
  const auto found = turn.state.resources.find(name);
  if (found == turn.state.resources.end()) return;
  v1::Resource derived = DerivedResource(turn.state, found->second);
  if (derived.SerializeAsString() == found->second.SerializeAsString()) return;
  found->second = std::move(derived);
  turn.effects.writes.push_back(PutResource{found->second});
}

}  // namespace pyptox::controller
