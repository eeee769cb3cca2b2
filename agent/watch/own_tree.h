// Which processes are ours, and what they use: the agent, its descendants, and what else the caller holds.
#ifndef PYPTOX_AGENT_WATCH_OWN_TREE_H_
#define PYPTOX_AGENT_WATCH_OWN_TREE_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace pyptox::agent {

struct OwnTree {
  // Ids in this process's namespace.
  std::set<uint64_t> pids;
  // Clock ticks used by them and by children that they have waited for. Grows only, as long as the first root lives and
  // nothing is adopted away from it.
  uint64_t ticks = 0;
  // Their runnable threads.
  uint32_t runnable = 0;
};

// Reads `proc`, `/proc` but in tests. The first root must be there, others may have ended. A process that is adopted by
// one outside the tree is no longer seen, so it counts as foreign.
//
// UNAVAILABLE when processes come and go so fast that no three looks in a row show the same ones: what ends between two
// reads would be counted twice or not at all. NOT_FOUND without the first root.
absl::StatusOr<OwnTree> ReadOwnTree(const std::string& proc, const std::vector<uint64_t>& roots);

// One look: every process by (pid, start time), which no other process ever has.
struct TreeLook {
  std::set<std::pair<uint64_t, uint64_t>> processes;
  OwnTree tree;
};
// The middle one of the first three looks in a row with the same processes: what is in the look before and in the look
// after was there throughout, so its time is counted once. UNAVAILABLE after twelve looks.
absl::StatusOr<OwnTree> AgreedTree(const std::function<absl::StatusOr<TreeLook>()>& look);

// The ids alone, by one look. NOT_FOUND without the first root.
absl::StatusOr<std::set<uint64_t>> ReadOwnPids(const std::string& proc, const std::vector<uint64_t>& roots);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_OWN_TREE_H_
