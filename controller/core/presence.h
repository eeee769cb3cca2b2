// Agents come and go.
#ifndef PYPTOX_CONTROLLER_CORE_PRESENCE_H_
#define PYPTOX_CONTROLLER_CORE_PRESENCE_H_

#include <string>
#include <vector>

#include "controller/core/turn.h"

namespace pyptox::controller {

// The agent's stream is over. Its attempts live on; nothing new is granted on its resources.
void Disconnect(Turn& turn, const std::string& agent);

// Disconnect, and ends the stream with `status`.
void HangUp(Turn& turn, const std::string& agent, absl::Status status);

// Ids of the live attempts that were given to the agent.
std::vector<uint64_t> LiveAttemptsOf(const State& state, const std::string& agent);

// Names of the resources that the agent registers.
std::vector<std::string> ResourcesOf(const State& state, const std::string& agent);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_PRESENCE_H_
