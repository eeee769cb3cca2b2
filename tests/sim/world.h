// One simulated run: a controller, agents, clients, trouble, then quiet; and the checks of how it ended.
#ifndef PYPTOX_TESTS_SIM_WORLD_H_
#define PYPTOX_TESTS_SIM_WORLD_H_

#include <string>

#include "tests/sim/simulation.h"

namespace pyptox::sim {

// What a run went through; shows that the trouble really happens.
struct Tally {
  int jobs = 0;
  int attempts = 0;
  int lost = 0;
  int orphans = 0;
  int records = 0;
  int refused_by_device = 0;  // for a stale token
  uint64_t controller_lives = 0;
  uint64_t agent_lives = 0;

  void Add(const Tally& other);
  std::string Text() const;
};

struct Result {
  std::string fault;  // empty when all is well
  Tally tally;
};

Result RunWorld(const Options& options);

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_WORLD_H_
