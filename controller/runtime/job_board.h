// Tells watchers what the loop committed about their jobs.
#ifndef PYPTOX_CONTROLLER_RUNTIME_JOB_BOARD_H_
#define PYPTOX_CONTROLLER_RUNTIME_JOB_BOARD_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "controller/rpc/job_watches.h"

namespace pyptox::controller {

// Thread safe. Must outlive its watches.
class JobBoard final : public JobWatches {
 public:
  std::unique_ptr<JobWatch> Watch(uint64_t job_id) override;
  // Called by the loop after the commit.
  void Publish(const v1::Job& job);

 private:
  class BoardWatch;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<uint64_t, BoardWatch*> watches_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_JOB_BOARD_H_
