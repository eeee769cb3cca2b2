// Reads /proc/loadavg, /proc/stat, /proc/pressure/* and /proc/PID/stat. Pure: texts in, values out. INVALID_ARGUMENT
// with the file's name for anything else than the kernel writes.
#ifndef PYPTOX_AGENT_WATCH_PARSE_PROC_LOAD_H_
#define PYPTOX_AGENT_WATCH_PARSE_PROC_LOAD_H_

#include <cstdint>
#include <set>
#include <string_view>

#include "absl/status/statusor.h"

namespace pyptox::agent {

struct LoadAverage {
  // Mean over a minute of runnable and uninterruptible threads.
  double load1 = 0;
  // Runnable threads now, the reader's own included.
  uint32_t runnable = 0;
};
absl::StatusOr<LoadAverage> ParseLoadAverage(std::string_view text);

// Clock ticks since boot (USER_HZ, sysconf(_SC_CLK_TCK)), summed over the CPUs asked for.
struct CpuTicks {
  // user, nice, system, irq and softirq; guest time is part of user.
  uint64_t used = 0;
  // What the hypervisor took.
  uint64_t stolen = 0;
  // CPUs that the sum is over.
  uint32_t cpus = 0;
  // CPUs that the host has online.
  uint32_t online = 0;
};
// `cpus` empty: all. INVALID_ARGUMENT when one of `cpus` is not there.
absl::StatusOr<CpuTicks> ParseCpuTicks(std::string_view text, const std::set<uint32_t>& cpus);

// The `some` line. `full` is 0 for CPUs, and absent before kernel 5.13.
struct Pressure {
  // Percent of the last 10 s.
  double some_avg10 = 0;
  // Microseconds since boot.
  uint64_t some_total_us = 0;
};
absl::StatusOr<Pressure> ParsePressure(std::string_view text);

// A line of /proc/PID/stat or /proc/PID/task/TID/stat.
struct ProcessStat {
  uint64_t pid = 0;
  uint64_t parent = 0;
  // R: runnable.
  char state = '?';
  // Ticks that it used itself, and that children used for which it has waited.
  uint64_t own_ticks = 0;
  uint64_t child_ticks = 0;
  // Ticks after boot. With the pid it names one process.
  uint64_t start = 0;
};
absl::StatusOr<ProcessStat> ParseProcessStat(std::string_view text);

// `0-3,8`: a list of CPUs as Linux writes it. An empty text is an empty list. At most CPU 8191, the kernel's NR_CPUS
// limit on x86-64 and above that of aarch64.
absl::StatusOr<std::set<uint32_t>> ParseCpuList(std::string_view text);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_PARSE_PROC_LOAD_H_
