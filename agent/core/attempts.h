// What becomes of attempts on an agent.
#ifndef PYPTOX_AGENT_CORE_ATTEMPTS_H_
#define PYPTOX_AGENT_CORE_ATTEMPTS_H_

#include <cstdint>
#include <string_view>

#include "agent/core/effect.h"
#include "agent/core/state.h"
#include "base/time_types.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// One Step while it is under way.
struct Turn {
  State& state;
  Effects& effects;
  const Now now;
};

// Sends on the open link; drops the message when no Welcome came on it yet, since everything is said again then.
void Say(Turn& turn, v1::AgentMessage message);

// Takes an attempt on, or refuses it. Idempotent by attempt id.
void Accept(Turn& turn, const v1::Assign& assign);

// Its result is known: journal it, and tell the controller.
void Finish(Turn& turn, uint64_t attempt_id, v1::Evidence evidence);

// The controller wants nothing more of it. A running one is killed first.
void Forget(Turn& turn, uint64_t attempt_id, std::string_view reason);

// Takes an attempt that does not run out of the journal and the state.
void Drop(Turn& turn, uint64_t attempt_id);

// Starts what waits and need not any more.
void StartWaiting(Turn& turn);

// Says again what the controller may not have heard on an older link.
void SayFinished(Turn& turn, const AttemptEntry& entry);
void SayStarted(Turn& turn, uint64_t attempt_id);
void SayProgress(Turn& turn, uint64_t attempt_id, AttemptEntry& entry);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_ATTEMPTS_H_
