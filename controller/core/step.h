// Every decision of the controller. Pure: the same state, event and time give the same effects.
#ifndef PYPTOX_CONTROLLER_CORE_STEP_H_
#define PYPTOX_CONTROLLER_CORE_STEP_H_

#include "absl/status/status.h"
#include "base/time_types.h"
#include "controller/core/effect.h"
#include "controller/core/event.h"
#include "controller/core/state.h"

namespace pyptox::controller {

// `now.mono` never goes back. One thread at a time.
Effects Step(State& state, const Event& event, Now now);

// When the next Tick has something to do; MonoTime::max-like INT64_MAX when nothing waits for time.
MonoTime NextDeadline(const State& state);

// INTERNAL naming what contradicts what. For tests, after every step.
absl::Status CheckInvariants(const State& state);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_STEP_H_
