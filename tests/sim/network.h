// Streams between agents and the controller: they delay, break, break unnoticed, and may still deliver afterwards.
#ifndef PYPTOX_TESTS_SIM_NETWORK_H_
#define PYPTOX_TESTS_SIM_NETWORK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pyptox/v1/agent.pb.h"
#include "tests/sim/simulation.h"

namespace pyptox::sim {

// One stream. The numbers are those of its two ends.
struct Link {
  size_t agent = 0;
  uint64_t number = 0;   // the agent's
  uint64_t session = 0;  // the controller's, 0 before Hello arrived
  uint64_t agent_life = 0;
  uint64_t controller_life = 0;
  bool open = true;
  bool leaks = false;  // what is under way when it is cut still arrives
  MonoTime order_to_controller;
  MonoTime order_to_agent;
};
using LinkPtr = std::shared_ptr<Link>;

class Network {
 public:
  explicit Network(Simulation* sim) : sim_(sim) {}

  LinkPtr Open(size_t agent, uint64_t number, uint64_t agent_life, uint64_t controller_life);
  void SendToController(const LinkPtr& link, v1::AgentMessage message);
  void SendToAgent(const LinkPtr& link, v1::ControllerMessage message);
  // Both ends hear of it, sooner or later.
  void Cut(const LinkPtr& link);
  void CutLinksOf(size_t agent);
  void CutAll();

  // The two ends. They look whether the life that the link belongs to is still lived.
  std::function<void(const LinkPtr&, const v1::AgentMessage&)> to_controller;
  std::function<void(const LinkPtr&)> controller_hears_end;
  std::function<void(const LinkPtr&, const v1::ControllerMessage&)> to_agent;
  std::function<void(const LinkPtr&)> agent_hears_end;

 private:
  Duration Delay();
  // Calls `deliver` when a message sent now arrives, twice or out of order in unruly runs.
  void Carry(const LinkPtr& link, MonoTime* order, std::function<void()> deliver);

  Simulation* sim_;
  std::vector<LinkPtr> links_;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_NETWORK_H_
