// What the controller says.
#ifndef PYPTOX_AGENT_CORE_ON_CONTROLLER_H_
#define PYPTOX_AGENT_CORE_ON_CONTROLLER_H_

#include "agent/core/attempts.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// The whole observed state, for a link that has just opened.
v1::AgentMessage HelloMessage(const State& state, const std::vector<v1::Resource>& resources, Now now);

// A message on the open link.
void OnControllerMessage(Turn& turn, const v1::ControllerMessage& message);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_ON_CONTROLLER_H_
