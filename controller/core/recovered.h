// What the store holds at a start of the controller: the sum of all writes that were committed.
#ifndef PYPTOX_CONTROLLER_CORE_RECOVERED_H_
#define PYPTOX_CONTROLLER_CORE_RECOVERED_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/core/counters.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::controller {

// The verdict of the newest record that is not partial for one suite, lane and source tree.
struct RecoveredResult {
  std::string suite;
  std::string suite_sha256;
  std::string lane;
  std::string tree_sha256;
  uint64_t record_id = 0;
  v1::Verdict verdict = v1::VERDICT_UNSPECIFIED;
};

// Order within the lists does not matter.
struct Recovered {
  Counters counters;
  std::vector<v1::Job> jobs;              // all
  std::map<uint64_t, v1::JobSpec> specs;  // by job id, of the jobs that are not DONE
  std::vector<v1::Attempt> attempts;      // all
  std::vector<v1::Lease> leases;
  std::vector<v1::HeldLock> tokens;
  std::vector<v1::Agent> agents;
  std::vector<v1::Resource> resources;
  std::map<std::string, uint64_t> idempotency;  // key to submission
  std::vector<RecoveredResult> results;
  uint64_t record_count = 0;
  std::string record_head_sha256;  // digest of the newest record; means nothing without one
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_RECOVERED_H_
