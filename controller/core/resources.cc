#include "controller/core/resources.h"

#include <fmt/format.h>

#include "matrix/resource_state.h"

namespace pyptox::controller {
namespace {

struct Standing {
  v1::ResourceState state = v1::RESOURCE_STATE_AVAILABLE;
  std::string reason;
};

Standing StandingOf(const State& state, const v1::Resource& resource, uint64_t holder_job_id) {
  if (resource.has_order()) return {resource.order().state(), matrix::OrderText(resource.order())};
  if (resource.agent().empty()) return {v1::RESOURCE_STATE_OFFLINE, "no agent registers it"};
  if (SessionFor(state, resource.name()) == 0) {
    return {v1::RESOURCE_STATE_OFFLINE, fmt::format("agent {} is not connected", resource.agent())};
  }
  if (holder_job_id != 0) return {v1::RESOURCE_STATE_BUSY, fmt::format("job {} holds it", holder_job_id)};
  return {};
}

v1::ResourceHealth HealthOf(const State& state, const v1::Resource& resource) {
  if (resource.agent().empty()) return v1::RESOURCE_HEALTH_UNKNOWN;
  return SessionFor(state, resource.name()) == 0 ? v1::RESOURCE_HEALTH_SILENT : v1::RESOURCE_HEALTH_ANSWERS;
}

}  // namespace

std::string LockKeyOf(const std::string& resource) { return "resource/" + resource; }

uint64_t SessionFor(const State& state, const std::string& resource) {
  const auto found = state.resources.find(resource);
  if (found == state.resources.end() || found->second.agent().empty()) return 0;
  return state.agents.at(found->second.agent()).session;
}

v1::Resource DerivedResource(const State& state, const v1::Resource& resource) {
  v1::Resource derived = resource;
  derived.clear_holder_job_id();
  derived.clear_holder_attempt_id();
  if (const auto holder = state.holders.find(resource.name()); holder != state.holders.end()) {
    derived.set_holder_attempt_id(holder->second);
    derived.set_holder_job_id(state.attempts.at(holder->second).attempt.job_id());
  }
  Standing standing = StandingOf(state, resource, derived.holder_job_id());
  derived.set_state(standing.state);
  derived.set_reason(std::move(standing.reason));
  derived.set_health(HealthOf(state, resource));
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
