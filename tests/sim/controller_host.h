// The machine of the controller: its core in a shell like the real one, which can crash at any step and stall.
#ifndef PYPTOX_TESTS_SIM_CONTROLLER_HOST_H_
#define PYPTOX_TESTS_SIM_CONTROLLER_HOST_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/effect.h"
#include "controller/core/event.h"
#include "controller/core/state.h"
#include "tests/sim/durable_store.h"
#include "tests/sim/network.h"
#include "tests/sim/simulation.h"

namespace pyptox::sim {

class ControllerHost {
 public:
  using OnReply = std::function<void(const controller::Reply&)>;

  ControllerHost(Simulation* sim, Network* network) : sim_(sim), network_(network), store_(sim) {}

  void Start();
  void Crash();
  // Nothing is handled for this long, as after SIGSTOP.
  void Stall(Duration length);
  bool is_up() const { return state_ != nullptr; }
  uint64_t life() const { return life_; }

  // Calls; `on_reply` is dropped when the controller crashes first.
  void Call(std::function<controller::Event(uint64_t request_id)> make_event, OnReply on_reply);

  // What the agent's stream delivers.
  void Hear(const LinkPtr& link, const v1::AgentMessage& message);
  void HearEnd(const LinkPtr& link);

  const DurableStore& store() const { return store_; }
  const controller::State& state() const { return *state_; }
  // Artifacts that were uploaded.
  std::set<std::string>& blobs() { return blobs_; }
  size_t open_sessions() const { return is_up() ? state_->sessions.size() : 0; }

 private:
  void Post(controller::Event event);
  void ScheduleDrain(Duration delay);
  // Takes a batch: Step each, commit, act. May crash in between.
  void Drain();
  // True when the controller crashed on the way.
  bool CommitAndAct(const controller::Effects& effects);
  void Act(const controller::Action& action);
  void CheckWrites(const std::vector<controller::Write>& writes);
  void ScheduleTick();
  Now ReadClocks() const;

  Simulation* sim_;
  Network* network_;
  DurableStore store_;
  std::set<std::string> blobs_;

  // One life of the process.
  uint64_t life_ = 0;
  std::unique_ptr<controller::State> state_;
  Duration mono_offset_;
  std::deque<controller::Event> queue_;
  bool drain_is_due_ = false;
  MonoTime stalled_until_;
  MonoTime graced_at_;  // end of the last stall, or the start
  uint64_t last_session_ = 0;
  uint64_t last_request_ = 0;
  std::map<uint64_t, LinkPtr> links_;  // by session
  std::map<uint64_t, OnReply> callers_;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_CONTROLLER_HOST_H_
