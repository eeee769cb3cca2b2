// Everything that the controller needs at its start, as it was last committed. Plain values.
#ifndef PYPTOX_MATRIX_STORE_SNAPSHOT_H_
#define PYPTOX_MATRIX_STORE_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "matrix/record_seal.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::store {

// The newest complete result of a suite on a lane at one source tree.
struct LaneResult {
  std::string suite;
  std::string suite_sha256;
  std::string lane;
  std::string tree_sha256;
  uint64_t record_id = 0;
  v1::Verdict verdict = v1::VERDICT_UNSPECIFIED;
};

struct Snapshot {
  std::map<std::string, uint64_t> counters;
  std::vector<v1::Job> jobs;              // all, by id
  std::map<uint64_t, v1::JobSpec> specs;  // of the jobs that are not DONE
  std::vector<v1::Attempt> attempts;      // all, by id
  std::vector<v1::Lease> leases;
  std::vector<v1::HeldLock> tokens;  // highest token granted, by key
  std::vector<v1::Agent> agents;
  std::vector<v1::Resource> resources;
  std::map<std::string, uint64_t> idempotency;  // key to submission
  std::vector<LaneResult> results;
  uint64_t record_count = 0;
  std::string record_head_sha256 = matrix::kNoRecord;  // of the newest record
};

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_SNAPSHOT_H_
