// Jobs come to life here, by Submit and by Retry.
#ifndef PYPTOX_CONTROLLER_CORE_NEW_JOB_H_
#define PYPTOX_CONTROLLER_CORE_NEW_JOB_H_

#include <cstdint>
#include <memory>
#include <string>

#include "controller/core/turn.h"

namespace pyptox::controller {

// What the jobs of one submission share.
struct Submission {
  uint64_t id = 0;
  std::shared_ptr<const v1::JobSpec> spec;  // without its lane
  std::string suite_sha256;
  std::string submitter;
  std::string request_sha256;  // empty for a retry
};

// Adds a QUEUED job for one lane of the suite. Consider it when all jobs of its submission are there. Returns its id.
uint64_t AddJob(Turn& turn, const Submission& submission, const v1::Lane& lane);

// Gives a job that is not DONE what the state keeps beside the job itself.
void Enlist(State& state, JobEntry& entry, const Submission& submission, MonoTime now);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_NEW_JOB_H_
