// Runs attempts, one thread each.
#ifndef PYPTOX_AGENT_STEPS_ATTEMPT_POOL_H_
#define PYPTOX_AGENT_STEPS_ATTEMPT_POOL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/exec/stop_signal.h"
#include "agent/steps/attempt_settings.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// Thread safe, but for the destructor.
class AttemptPool {
 public:
  AttemptPool(AttemptSettings settings, AttemptNews news);
  // Ends all attempts and waits for them; they still give their news.
  ~AttemptPool();

  // Starts a thread for it. An attempt that is running already is ignored.
  void Start(v1::Assign assign);
  // Ends an attempt; its outcome says CANCELLED with this reason, or what it ended with just before.
  void Kill(uint64_t attempt, const std::string& reason);
  // Ends all attempts and waits for them.
  void Stop();

 private:
  struct Running {
    StopSignal stop;
    std::string reason;
    std::thread thread;
    bool over = false;
  };
  void Run(const v1::Assign& assign, Running* running);
  void JoinEnded();

  const AttemptSettings settings_;
  const AttemptNews news_;
  std::mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Running>> running_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_ATTEMPT_POOL_H_
