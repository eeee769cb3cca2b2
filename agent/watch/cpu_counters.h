// Reads /proc into a CpuLoad, and remembers it for the next one.
#ifndef PYPTOX_AGENT_WATCH_CPU_COUNTERS_H_
#define PYPTOX_AGENT_WATCH_CPU_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time_types.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// One thread at a time.
class CpuCounters {
 public:
  // `proc` as in ReadOwnTree; `cpus` empty for all; `ticks_per_second` is sysconf(_SC_CLK_TCK).
  CpuCounters(std::string proc, std::set<uint32_t> cpus, int64_t ticks_per_second)
      : proc_(std::move(proc)), cpus_(std::move(cpus)), ticks_per_second_(ticks_per_second) {}

  // What can't be read is absent, with its reason in `unknown`. Means over the time since the last call in which the
  // counters they need could be read; absent without one.
  v1::CpuLoad Read(const std::vector<uint64_t>& own_roots, MonoTime now);

 private:
  struct Previous {
    MonoTime at;
    double used = 0;
    double own = 0;
    double stolen = 0;
  };
  struct PreviousPressure {
    MonoTime at;
    uint64_t total_us = 0;
  };
  void Compare(MonoTime now, v1::CpuLoad* load);
  void ComparePressure(MonoTime now, v1::CpuLoad* load);

  const std::string proc_;
  const std::set<uint32_t> cpus_;
  const int64_t ticks_per_second_;
  std::optional<Previous> previous_;
  std::optional<PreviousPressure> previous_pressure_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_CPU_COUNTERS_H_
