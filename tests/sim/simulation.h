// What all parts of one simulated run share: virtual time, chance, and the first thing that went wrong.
#ifndef PYPTOX_TESTS_SIM_SIMULATION_H_
#define PYPTOX_TESTS_SIM_SIMULATION_H_

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/time_types.h"
#include "tests/sim/chance.h"

namespace pyptox::sim {

// Faults that the harness itself can have, to show that the checks would see them.
enum class PlantedBug {
  kNone,
  kActBeforeCommit,     // the controller's shell sends and replies before it commits
  kTokensNotStored,     // fencing tokens are not written
  kLeasesNotDeleted,    // ended attempts keep their leases in the store
  kJournalNotWritten,   // the agent's shell drops what it accepted
  kKillWithoutWaiting,  // the agent's executor calls an attempt done while its processes live
  kNoGraceAfterStall,   // the controller does not notice its own stalls
  kTokensNotChecked,    // the agent forgets which tokens it has seen
};

struct Options {
  uint64_t seed = 1;
  bool verbose = false;
  PlantedBug bug = PlantedBug::kNone;
};

class Simulation {
 public:
  explicit Simulation(const Options& options) : options(options), chance(options.seed) {}

  // Runs `action` after `delay`; actions of the same moment run in the order of the calls.
  void After(Duration delay, std::function<void()> action) {
    actions_.emplace(std::pair(now_.ns + delay.ns, ++sequence_), std::move(action));
  }
  // Runs actions until `is_over`, the first fault, or `end`.
  void RunUntil(MonoTime end, const std::function<bool()>& is_over) {
    while (fault.empty() && !actions_.empty() && !is_over()) {
      auto first = actions_.extract(actions_.begin());
      if (first.key().first > end.ns) {
        actions_.insert(std::move(first));
        break;
      }
      now_.ns = first.key().first;
      first.mapped()();
    }
  }
  MonoTime now() const { return now_; }

  template <typename... Args>
  void Fail(fmt::format_string<Args...> format, Args&&... args) {
    if (fault.empty()) fault = fmt::format(format, std::forward<Args>(args)...);
    Log("FAULT: {}", fault);
  }
  void Check(const absl::Status& status, const char* where) {
    if (!status.ok()) Fail("{}: {}", where, std::string(status.message()));
  }
  template <typename... Args>
  void Log(fmt::format_string<Args...> format, Args&&... args) {
    if (!options.verbose) return;
    const std::string text = fmt::format(format, std::forward<Args>(args)...);
    std::printf("%9.3f %s\n", static_cast<double>(now_.ns) / 1e9, text.c_str());
  }

  const Options options;
  Chance chance;
  std::string fault;
  // Nothing breaks any more, and everything must come to its end.
  bool quiet = false;
  // From then on nothing is lost any more either: what broke before has been noticed.
  MonoTime settled_at{INT64_MAX};
  // Links also double and reorder what they carry.
  bool unruly = false;

 private:
  MonoTime now_;
  uint64_t sequence_ = 0;
  std::map<std::pair<int64_t, uint64_t>, std::function<void()>> actions_;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_SIMULATION_H_
