// Watching one job change. The runtime implements it.
#ifndef PYPTOX_CONTROLLER_RPC_JOB_WATCHES_H_
#define PYPTOX_CONTROLLER_RPC_JOB_WATCHES_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "base/time_types.h"
#include "pyptox/v1/job.pb.h"

namespace pyptox::controller {

// One watcher of one job. Owned and used by one thread.
class JobWatch {
 public:
  virtual ~JobWatch() = default;
  // The job as the newest commit since the last call left it, waiting at most `wait` for one. A slow caller skips
  // states in between, never the last one.
  virtual std::optional<v1::Job> Next(Duration wait) = 0;
};

class JobWatches {
 public:
  virtual ~JobWatches() = default;
  // Sees every commit from this call on. Thread safe.
  virtual std::unique_ptr<JobWatch> Watch(uint64_t job_id) = 0;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_JOB_WATCHES_H_
