// What the controller writes down about a job that is DONE.
#ifndef PYPTOX_CONTROLLER_CORE_RECORD_H_
#define PYPTOX_CONTROLLER_CORE_RECORD_H_

#include "controller/core/turn.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::controller {

// The agent's verdict after the controller's own look (matrix/admission.h). The job is not being cancelled.
v1::Outcome JudgedOutcome(const JobEntry& entry, const v1::Evidence& evidence);

// Seals the record of a job with its outcome and appends it to the chain. `attempt` is empty for a job that ended
// without one. Returns the record's id.
uint64_t AppendRecord(Turn& turn, const JobEntry& entry, const v1::Attempt& attempt, const v1::Evidence& evidence);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_RECORD_H_
