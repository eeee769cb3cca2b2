// One attempt from its Assign to its Evidence.
#ifndef PYPTOX_AGENT_STEPS_ATTEMPT_RUN_H_
#define PYPTOX_AGENT_STEPS_ATTEMPT_RUN_H_

#include "agent/exec/stop_signal.h"
#include "agent/steps/attempt_settings.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Blocks until the attempt is over and none of its processes is left. The evidence always has an outcome. Its artifacts
// are in the blob store and uploaded as far as the controller could be reached.
v1::Evidence RunAttempt(const AttemptSettings& settings, const AttemptNews& news, const v1::Assign& assign,
                        const StopSignal& stop);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_ATTEMPT_RUN_H_
