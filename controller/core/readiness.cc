#include "controller/core/readiness.h"

#include <fmt/format.h>

#include "controller/core/prerequisite.h"
#include "controller/core/resources.h"
#include "matrix/resource_state.h"

namespace pyptox::controller {

std::vector<std::string> HoldsOn(const State& state, const JobEntry& entry) {
  std::vector<std::string> holds;
  const Prerequisite prerequisite = CheckPrerequisites(state, entry);
  if (prerequisite.readiness != Readiness::kMet) holds.push_back(prerequisite.reason);
  const std::string& name = entry.job.resource();
  const auto resource = state.resources.find(name);
  if (resource != state.resources.end() && resource->second.has_order()) {
    holds.push_back(fmt::format("resource {} is {}; it waits for `pyptox-ctl resource resume {}`", name,
                                matrix::OrderText(resource->second.order()), name));
  }
  if (resource == state.resources.end() || resource->second.agent().empty()) {
    holds.push_back(fmt::format("no agent registers resource {}", name));
  } else if (SessionFor(state, name) == 0) {
    holds.push_back(fmt::format("agent {} is not connected", resource->second.agent()));
  }
  return holds;
}

bool IsHeldByOrder(const State& state, const JobEntry& entry) {
  const auto resource = state.resources.find(entry.job.resource());
  return resource != state.resources.end() && resource->second.has_order();
}

}  // namespace pyptox::controller
