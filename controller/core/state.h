// All that the controller's decisions rest on. Ids, never pointers, between entities.
#ifndef PYPTOX_CONTROLLER_CORE_STATE_H_
#define PYPTOX_CONTROLLER_CORE_STATE_H_

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/link_settings.h"
#include "base/time_types.h"
#include "controller/core/counters.h"
#include "locks/lease_table.h"
#include "matrix/record_seal.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::controller {

// A lease outlives the moment in which its silent agent is lost; it runs out by itself only for an attempt that its
// agent no longer names.
inline constexpr Duration kLeaseTtl{kLostAfter.ns + Seconds(5).ns};
// A gap between two steps that shows a stall of the controller itself; it is ticked every second.
inline constexpr Duration kStallAfter = Seconds(5);
// An attempt that its agent did not end by itself is cancelled this long after its run limit.
inline constexpr Duration kRunBackstop = Seconds(60);
// Time that an agent has from an assignment to the first step: fetching sources, ending what ran before.
inline constexpr Duration kStartAllowance = Seconds(600);
// Tries that end INFRA are limited by the job; ones that end LOST by this.
inline constexpr uint32_t kMaxLostAttempts = 100;
// Most jobs that are not DONE.
inline constexpr size_t kMaxActiveJobs = 10'000;

// Which check of which code: jobs with equal keys answer the same question.
struct ResultKey {
  std::string suite;
  std::string suite_sha256;
  std::string lane;
  std::string tree_sha256;
  friend auto operator<=>(const ResultKey&, const ResultKey&) = default;
};

struct JobEntry {
  v1::Job job;
  // The rest is for jobs that are not DONE.
  std::shared_ptr<const v1::JobSpec> spec;  // of the submission, without its lane
  std::string suite_sha256;
  uint64_t live_attempt = 0;
  uint32_t infra_attempts = 0;
  uint32_t lost_attempts = 0;
  MonoTime queued_since;
  MonoTime queue_deadline;  // means nothing while an order holds it (readiness.h)
};

struct LiveAttempt {
  v1::Attempt attempt;
  MonoTime backstop;
};

struct AgentEntry {
  v1::Agent agent;
  uint64_t session = 0;  // 0: not connected
  MonoTime last_heard;
};

struct Result {
  uint64_t record_id = 0;
  v1::Verdict verdict = v1::VERDICT_UNSPECIFIED;
};

struct State {
  Counters counters;
  uint64_t record_count = 0;
  std::string record_head_sha256 = matrix::kNoRecord;  // digest of the newest record

  std::map<uint64_t, JobEntry> jobs;
  std::set<uint64_t> active;                              // jobs that are not DONE
  std::map<uint64_t, std::vector<uint64_t>> submissions;  // their jobs, in order
  std::map<std::string, uint64_t> idempotency;            // key to submission
  std::map<uint64_t, LiveAttempt> attempts;
  std::map<uint64_t, v1::Verdict> ended;    // attempts that are over, with their verdict
  std::map<std::string, uint64_t> holders;  // live attempt that holds a resource, by its name
  std::map<std::string, AgentEntry> agents;
  std::map<uint64_t, std::string> sessions;  // open ones, to the agent
  std::map<std::string, v1::Resource> resources;
  std::map<ResultKey, Result> results;              // of the newest record that is not partial
  std::map<ResultKey, std::set<uint64_t>> pending;  // active jobs that will make such a record
  locks::LeaseTable leases{kLeaseTtl};              // held by jobs: a job has at most one live attempt
  MonoTime last_step;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_STATE_H_
