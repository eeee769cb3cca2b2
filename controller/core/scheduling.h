// Which job runs next, and where.
#ifndef PYPTOX_CONTROLLER_CORE_SCHEDULING_H_
#define PYPTOX_CONTROLLER_CORE_SCHEDULING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "controller/core/turn.h"
#include "locks/lease_table.h"

namespace pyptox::controller {

// Puts a QUEUED job in line for its resource when nothing else keeps it from running, takes it out when something
// does, and ends it when its prerequisite failed. To be called whenever one of these may have changed. Does nothing
// for a job in another state.
void Consider(Turn& turn, uint64_t job_id);

// Consider for every queued job that names the resource.
void ConsiderAllOn(Turn& turn, const std::string& resource);

// Consider for every queued job that waits for `lane` of `suite`.
void ConsiderDependents(Turn& turn, const std::string& suite, const std::string& lane);

// Makes an attempt of every grant of the lease table and sends it out.
void GiveOut(Turn& turn, const std::vector<locks::Grant>& grants);

// The message that starts a live attempt.
v1::ControllerMessage AssignMessage(const State& state, const v1::Attempt& attempt);

// The lane of the job, out of its spec. The job is not DONE.
const v1::Lane& LaneOf(const JobEntry& entry);

// Time limits of the job's lane, with defaults filled in.
Duration QueueLimit(const JobEntry& entry);
Duration RunLimit(const JobEntry& entry);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_SCHEDULING_H_
