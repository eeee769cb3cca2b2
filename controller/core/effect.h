// What the core wants done. The shell commits the writes of a whole batch in one transaction, in order, and only then
// performs the actions, in order: persist before you promise. Every write is an upsert by its key.
#ifndef PYPTOX_CONTROLLER_CORE_EFFECT_H_
#define PYPTOX_CONTROLLER_CORE_EFFECT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "controller/core/counters.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::controller {

// By job.id.
struct PutJob {
  v1::Job job;
};

// By job_id; written once, after the first PutJob. Jobs of one submission share one spec, in which `lane` is empty.
struct PutJobSpec {
  uint64_t job_id = 0;
  std::shared_ptr<const v1::JobSpec> spec;
};

// By attempt.id. ASSIGNED is the first state, ENDED the last: between the two it is live and its log takes bytes.
struct PutAttempt {
  v1::Attempt attempt;
};

// By (lease.attempt_id, lease.key).
struct PutLease {
  v1::Lease lease;
};

// Every lease of the attempt.
struct DeleteLeases {
  uint64_t attempt_id = 0;
};

// Last fencing token of a lock, by key.
struct PutToken {
  v1::HeldLock token;
};

// By agent.name.
struct PutAgent {
  v1::Agent agent;
};

// By resource.name.
struct PutResource {
  v1::Resource resource;
};

// Appended to the history, by order.id.
struct PutResourceOrder {
  v1::ResourceOrder order;
};

// Appended to the chain; `record` is what `stored.json` says.
struct PutRecord {
  v1::Record record;
  v1::StoredRecord stored;
};

// A result that came too late, by finished.attempt_id. Outside the matrix for ever.
struct PutOrphan {
  v1::AttemptFinished finished;
  std::string agent;
  std::string reason;  // one sentence
};

// By key.
struct PutIdempotency {
  std::string key;
  uint64_t submission_id = 0;
};

// One row.
struct PutCounters {
  Counters counters;
};

using Write = std::variant<PutJob, PutJobSpec, PutAttempt, PutLease, DeleteLeases, PutToken, PutAgent, PutResource,
                           PutResourceOrder, PutRecord, PutOrphan, PutIdempotency, PutCounters>;

// Answers a call. `message` is of the call's response type when `status` is OK, else monostate.
struct Reply {
  uint64_t request_id = 0;
  absl::Status status;
  std::variant<std::monostate, v1::SubmitResponse, v1::Job, v1::ExplainJobResponse, v1::Resource> message;
};

// To an agent's stream. The shell adds Welcome.logs for the attempts in Welcome.assigned.
struct Send {
  uint64_t session_id = 0;
  v1::ControllerMessage message;
};

// Ends a stream with this status. The core has forgotten the session already; an AgentGone for it is welcome.
struct CloseSession {
  uint64_t session_id = 0;
  absl::Status status;
};

// For those who watch the job.
struct JobChanged {
  v1::Job job;
};

using Action = std::variant<Reply, Send, CloseSession, JobChanged>;

struct Effects {
  std::vector<Write> writes;
  std::vector<Action> actions;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_EFFECT_H_
