// What can happen to the controller. The shell makes events out of calls, streams and its timer, and Steps them in
// order of arrival.
#ifndef PYPTOX_CONTROLLER_CORE_EVENT_H_
#define PYPTOX_CONTROLLER_CORE_EVENT_H_

#include <cstdint>
#include <string>
#include <variant>

#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/resource.pb.h"

namespace pyptox::controller {

// `request_id` is the shell's number of a call that waits; exactly one Reply carries it back in the same Step.

// Of a suite that matrix::CheckSuite takes, with every artifact of its tree stored.
struct Submit {
  uint64_t request_id = 0;
  v1::SubmitRequest request;
  std::string submitter;  // identity of the connection
};

struct Cancel {
  uint64_t request_id = 0;
  uint64_t job_id = 0;
  std::string reason;
};

// `spec` is what PutJobSpec stored for the job; empty when the store has none.
struct Retry {
  uint64_t request_id = 0;
  uint64_t job_id = 0;
  v1::JobSpec spec;
};

struct Explain {
  uint64_t request_id = 0;
  uint64_t job_id = 0;
};

struct OrderResource {
  uint64_t request_id = 0;
  v1::OrderResourceRequest request;
};

// A stream opened. `session_id` is the shell's number for it, higher than every one before.
struct AgentHello {
  uint64_t session_id = 0;
  v1::Hello hello;
};

// Any later message of the stream but log chunks, which pass the core by. Artifacts that a result names are stored.
struct AgentSaid {
  uint64_t session_id = 0;
  v1::AgentMessage message;
};

// The stream ended, by either side.
struct AgentGone {
  uint64_t session_id = 0;
};

// Time has passed. The shell steps one every second, and at NextDeadline.
struct Tick {};

using Event = std::variant<Submit, Cancel, Retry, Explain, OrderResource, AgentHello, AgentSaid, AgentGone, Tick>;

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_EVENT_H_
