#include "controller/core/presence.h"

#include <utility>

#include "controller/core/resources.h"
#include "controller/core/scheduling.h"

namespace pyptox::controller {

void Disconnect(Turn& turn, const std::string& agent) {
  AgentEntry& entry = turn.state.agents.at(agent);
  turn.state.sessions.erase(entry.session);
  entry.session = 0;
  entry.agent.set_connected(false);
  entry.agent.set_changed_at_ns(turn.now.wall.unix_ns);
  turn.effects.writes.push_back(PutAgent{entry.agent});
  for (const std::string& resource : ResourcesOf(turn.state, agent)) {
    RefreshResource(turn, resource);
    ConsiderAllOn(turn, resource);
  }
}

void HangUp(Turn& turn, const std::string& agent, absl::Status status) {
  turn.effects.actions.push_back(CloseSession{turn.state.agents.at(agent).session, std::move(status)});
  Disconnect(turn, agent);
}

std::vector<uint64_t> LiveAttemptsOf(const State& state, const std::string& agent) {
  std::vector<uint64_t> ids;
  for (const auto& [id, live] : state.attempts) {
    if (live.attempt.agent() == agent) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> ResourcesOf(const State& state, const std::string& agent) {
  std::vector<std::string> names;
  for (const auto& [name, resource] : state.resources) {
    if (resource.agent() == agent) names.push_back(name);
  }
  return names;
}

}  // namespace pyptox::controller
