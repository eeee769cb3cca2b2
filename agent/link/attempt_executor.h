// Who runs attempts, as the loop sees it. agent/steps is behind it; a test may be.
#ifndef PYPTOX_AGENT_LINK_ATTEMPT_EXECUTOR_H_
#define PYPTOX_AGENT_LINK_ATTEMPT_EXECUTOR_H_

#include <cstdint>
#include <string>

#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// Neither call blocks. What comes of them is posted to the loop: AttemptBegan, AttemptProgressed, AttemptDone.
class AttemptExecutor {
 public:
  virtual ~AttemptExecutor() = default;
  virtual void Start(v1::Assign assign) = 0;
  // An unknown or ended attempt is ignored.
  virtual void Kill(uint64_t attempt, const std::string& reason) = 0;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_ATTEMPT_EXECUTOR_H_
