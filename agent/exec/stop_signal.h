// Asks running steps to end, from any thread. Set once, never cleared.
#ifndef PYPTOX_AGENT_EXEC_STOP_SIGNAL_H_
#define PYPTOX_AGENT_EXEC_STOP_SIGNAL_H_

#include <atomic>

#include "base/unique_fd.h"

namespace pyptox::agent {

class StopSignal {
 public:
  StopSignal();
  void Request();
  bool requested() const { return requested_.load(); }
  // Readable once requested; for poll.
  int fd() const { return event_.get(); }

 private:
  std::atomic<bool> requested_{false};
  UniqueFd event_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_STOP_SIGNAL_H_
