// What must be PASS before a job may run.
#ifndef PYPTOX_CONTROLLER_CORE_PREREQUISITE_H_
#define PYPTOX_CONTROLLER_CORE_PREREQUISITE_H_

#include <string>

#include "controller/core/state.h"

namespace pyptox::controller {

enum class Readiness { kMet, kWaits, kFailed };

struct Prerequisite {
  Readiness readiness = Readiness::kMet;
  std::string reason;  // one sentence, unless kMet
};

// The key of what `entry` proves on `lane` of its suite.
ResultKey KeyOf(const JobEntry& entry, const std::string& lane);

// Looks at every lane that the job requires. A job waits for jobs of its own submission and for older ones only, so
// nothing waits in a circle or for ever. What counts is the newest record that is not partial; for a partial job also
// the outcome of the same cases in its own submission.
Prerequisite CheckPrerequisites(const State& state, const JobEntry& entry);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_PREREQUISITE_H_
