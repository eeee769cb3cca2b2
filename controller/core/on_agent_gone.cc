#include "controller/core/handlers.h"
#include "controller/core/presence.h"

namespace pyptox::controller {

void On(Turn& turn, const AgentGone& event) {
  const auto session = turn.state.sessions.find(event.session_id);
  if (session != turn.state.sessions.end()) Disconnect(turn, std::string(session->second));
}

}  // namespace pyptox::controller
