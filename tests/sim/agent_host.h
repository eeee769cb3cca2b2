// A machine with an agent: its core in a shell like the real one, a journal on disk, and an executor that draws
// outcomes. It can crash at any step, freeze, and lose its journal.
#ifndef PYPTOX_TESTS_SIM_AGENT_HOST_H_
#define PYPTOX_TESTS_SIM_AGENT_HOST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/core/effect.h"
#include "agent/core/event.h"
#include "agent/core/state.h"
#include "tests/sim/controller_host.h"
#include "tests/sim/network.h"
#include "tests/sim/simulation.h"
#include "tests/sim/truth.h"

namespace pyptox::sim {

class AgentHost {
 public:
  AgentHost(Simulation* sim, Network* network, ControllerHost* controller, Truth* truth, size_t index,
            std::vector<std::string> resources);

  void Start();
  void Crash();
  // Nothing of the agent runs for this long, as after SIGSTOP or while the host sleeps; its attempts go on.
  void Freeze(Duration length);
  // No connection for this long.
  void Isolate(Duration length);
  // To be called while it is down.
  void LoseJournal();
  bool is_up() const { return state_ != nullptr; }
  uint64_t life() const { return life_; }
  const agent::State& state() const { return *state_; }

  void Hear(const LinkPtr& link, const v1::ControllerMessage& message);
  void HearEnd(const LinkPtr& link);

 private:
  // An attempt that the executor was told to run.
  struct Execution {
    bool killed = false;
    v1::Assign assign;
    v1::Evidence evidence;  // what it will deliver
  };

  // Runs `action` in this life, when the agent is not frozen.
  void Later(Duration delay, std::function<void()> action);
  void Handle(const agent::Event& event);
  bool CrashesHere();
  void Act(const agent::Action& action);
  void TryConnect();
  void TickForEver();
  void StartExecution(const v1::Assign& assign);
  void KillExecution(uint64_t attempt_id);
  void FinishExecution(uint64_t attempt_id);
  v1::Evidence DrawEvidence(const v1::Assign& assign);
  void Upload(const agent::UploadThenResend& upload);

  Simulation* sim_;
  Network* network_;
  ControllerHost* controller_;
  Truth* truth_;
  const size_t index_;
  const std::vector<std::string> resources_;
  const int64_t clock_skew_ns_;

  // Disk.
  std::vector<agent::JournalEntry> journal_;
  std::string journal_id_;
  uint64_t epoch_ = 0;
  uint64_t journals_ = 0;

  // One life of the process.
  uint64_t life_ = 0;
  std::unique_ptr<agent::State> state_;
  Duration mono_offset_;
  MonoTime frozen_until_;
  MonoTime isolated_until_;
  uint64_t last_link_ = 0;
  LinkPtr link_;
  std::map<uint64_t, Execution> executions_;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_AGENT_HOST_H_
