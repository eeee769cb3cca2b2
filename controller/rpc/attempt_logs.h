// The logs of attempts, as the services see them. The runtime implements it over files.
#ifndef PYPTOX_CONTROLLER_RPC_ATTEMPT_LOGS_H_
#define PYPTOX_CONTROLLER_RPC_ATTEMPT_LOGS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time_types.h"

namespace pyptox::controller {

// Thread safe.
class AttemptLogs {
 public:
  virtual ~AttemptLogs() = default;
  // Appends what lies past the bytes that are there; a repeat changes nothing. Bytes for an attempt that is not live
  // on `agent` are dropped. OUT_OF_RANGE when `offset` would leave a gap. Does not wait for the disk.
  virtual absl::Status Append(const std::string& agent, uint64_t attempt, uint64_t offset, std::string_view data) = 0;
  // Calls `done` with the durable length once everything appended so far is durable (at once when it is), or with
  // UINT64_MAX where bytes are dropped: the attempt is not live, or its log is full. `done` runs on another thread or
  // on this one, and must not block.
  virtual void WhenDurable(uint64_t attempt, std::function<void(uint64_t bytes)> done) = 0;
  // At most `max_bytes` from `offset` on; empty at or past the end.
  virtual absl::StatusOr<std::string> Read(uint64_t attempt, uint64_t offset, uint64_t max_bytes) = 0;
  // Waits at most `wait` for a byte at `offset` or for the attempt's end. True while more may come.
  virtual bool WaitForMore(uint64_t attempt, uint64_t offset, Duration wait) = 0;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_ATTEMPT_LOGS_H_
