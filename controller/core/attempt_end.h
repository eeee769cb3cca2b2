// How attempts end, and what becomes of their jobs then.
#ifndef PYPTOX_CONTROLLER_CORE_ATTEMPT_END_H_
#define PYPTOX_CONTROLLER_CORE_ATTEMPT_END_H_

#include <cstdint>
#include <string_view>

#include "controller/core/turn.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::controller {

// The attempt is live and its agent delivered this. INFRA is tried again while the job has attempts left.
void ConcludeAttempt(Turn& turn, uint64_t attempt_id, const v1::Evidence& evidence);

// The attempt is live and will never deliver anything: its job is tried again, at most kMaxLostAttempts times.
void LoseAttempt(Turn& turn, uint64_t attempt_id, std::string_view kind, std::string_view reason);

// Ends a job that is QUEUED.
void FinishQueued(Turn& turn, uint64_t job_id, const v1::Outcome& outcome);

// Asks for the end of a RUNNING job; `outcome` is what it will have.
void CancelRunning(Turn& turn, uint64_t job_id, const v1::Outcome& outcome);

// The attempt has ended by what its agent delivered, and that is stored.
bool HasResult(const State& state, uint64_t attempt_id);

// The message that ends a live attempt of a job that is CANCELLING.
v1::ControllerMessage CancelMessage(const JobEntry& entry);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_ATTEMPT_END_H_
