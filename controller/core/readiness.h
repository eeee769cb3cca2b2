// May a queued job have its resource?
#ifndef PYPTOX_CONTROLLER_CORE_READINESS_H_
#define PYPTOX_CONTROLLER_CORE_READINESS_H_

#include <string>
#include <vector>

#include "controller/core/state.h"

namespace pyptox::controller {

// Why the job may not even stand in line, each with what ends it, in words for people; empty when it may. Whoever
// holds the resource is not among them.
std::vector<std::string> HoldsOn(const State& state, const JobEntry& entry);

// An order of a person keeps the job waiting: its queue limit does not run.
bool IsHeldByOrder(const State& state, const JobEntry& entry);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_READINESS_H_
