// What the controller writes down about a job that is DONE.
#ifndef PYPTOX_CONTROLLER_CORE_RECORD_H_
#define PYPTOX_CONTROLLER_CORE_RECORD_H_

#include "controller/core/turn.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::controller {

// SHA-256 of the suite's canonical JSON, in hex.
std::string SuiteSha256(const v1::Suite& suite);

// The agent's verdict after the controller's own look: never better than the evidence carries.
v1::Outcome JudgedOutcome(const JobEntry& entry, const v1::Evidence& evidence);

// Seals the record of a job with its outcome and appends it to the chain. `attempt` is empty for a job that ended
// without one. Returns the record's id.
uint64_t AppendRecord(Turn& turn, const JobEntry& entry, const v1::Attempt& attempt, const v1::Evidence& evidence);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_RECORD_H_
