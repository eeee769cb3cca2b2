#include "tests/sim/network.h"

#include <algorithm>
#include <utility>

namespace pyptox::sim {

LinkPtr Network::Open(size_t agent, uint64_t number, uint64_t agent_life, uint64_t controller_life) {
  auto link = std::make_shared<Link>();
  link->agent = agent;
  link->number = number;
  link->agent_life = agent_life;
  link->controller_life = controller_life;
  link->leaks = sim_->chance.Percent(30);
  std::erase_if(links_, [](const LinkPtr& old) { return !old->open; });
  links_.push_back(link);
  return link;
}

Duration Network::Delay() {
  if (sim_->quiet || sim_->chance.Percent(80)) return sim_->chance.Between(Milliseconds(1), Milliseconds(50));
  if (sim_->chance.Percent(90)) return sim_->chance.Between(Milliseconds(50), Seconds(2));
  return sim_->chance.Between(Seconds(2), Seconds(45));
}

void Network::Carry(const LinkPtr& link, MonoTime* order, std::function<void()> deliver) {
  const bool unruly = sim_->unruly && !sim_->quiet;
  MonoTime arrival = sim_->now() + Delay();
  if (!unruly || !sim_->chance.Percent(10)) arrival = std::max(arrival, *order);
  *order = std::max(arrival, *order);
  const auto arrive = [link, deliver = std::move(deliver)] {
    if (link->open || link->leaks) deliver();
  };
  sim_->After(arrival - sim_->now(), arrive);
  if (unruly && sim_->chance.Percent(10)) sim_->After(arrival - sim_->now() + Delay(), arrive);
}

void Network::SendToController(const LinkPtr& link, v1::AgentMessage message) {
  if (!link->open) return;
  Carry(link, &link->order_to_controller, [this, link, message = std::move(message)] { to_controller(link, message); });
}

void Network::SendToAgent(const LinkPtr& link, v1::ControllerMessage message) {
  if (!link->open) return;
  Carry(link, &link->order_to_agent, [this, link, message = std::move(message)] { to_agent(link, message); });
}

void Network::Cut(const LinkPtr& link) {
  if (!std::exchange(link->open, false)) return;
  sim_->Log("link {} of agent {} is cut", link->number, link->agent);
  sim_->After(Delay(), [this, link] { agent_hears_end(link); });
  // Half-open: the controller finds out by silence only.
  if (sim_->quiet || !sim_->chance.Percent(20)) sim_->After(Delay(), [this, link] { controller_hears_end(link); });
}

void Network::CutLinksOf(size_t agent) {
  for (const LinkPtr& link : std::vector<LinkPtr>(links_)) {
    if (link->agent == agent) Cut(link);
  }
}

void Network::CutAll() {
  for (const LinkPtr& link : std::vector<LinkPtr>(links_)) Cut(link);
}

}  // namespace pyptox::sim
