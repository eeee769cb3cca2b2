// Every decision of an agent. Pure: the same state, event and time give the same effects.
#ifndef PYPTOX_AGENT_CORE_STEP_H_
#define PYPTOX_AGENT_CORE_STEP_H_

#include "absl/status/status.h"
#include "agent/core/effect.h"
#include "agent/core/event.h"
#include "agent/core/state.h"
#include "base/time_types.h"

namespace pyptox::agent {

// `now.mono` never goes back. One thread at a time. `now.wall` is only told to the controller.
Effects Step(State& state, const Event& event, Now now);

// INTERNAL naming what contradicts what. For tests, after every step.
absl::Status CheckInvariants(const State& state);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_STEP_H_
