// What one card shows when nobody uses it, learned on that card: an idle 910 holds about 3 GB, an idle gaming PC some
// watts and a desktop. Pure; the agent keeps the LoadBaseline message as JSON in its work root (base/message_json.h).
#ifndef PYPTOX_AGENT_WATCH_JUDGE_BASELINE_H_
#define PYPTOX_AGENT_WATCH_JUDGE_BASELINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// A baseline's levels. Absent: not known yet, or the tool never said.
struct IdleLevel {
  // There are WatchConfig.baseline_samples readings, of this device and under this driver. Levels of less are absent.
  bool learned = false;
  // Readings that there are.
  uint64_t readings = 0;
  // Under which they were taken. A sample that names another is held against nothing.
  std::string driver;
  // Medians: these go up and down around idle. Percent, watts, MHz.
  std::optional<double> utilization_percent;
  std::optional<double> power_w;
  std::optional<double> sm_clock_mhz;
  // Minimum, MiB: nothing makes memory in use smaller than idle, so one really idle reading corrects any number of
  // others.
  std::optional<uint64_t> memory_used_mib;
};

// `config` with its defaults, `driver` as a sample of today names it. Nothing is learned under another driver.
IdleLevel IdleLevelOf(const v1::WatchConfig& config, const v1::LoadBaseline& baseline, std::string_view driver);

// Adds an idle sample to the baseline, and starts a new one when device or driver is another. Returns why it was not
// taken, empty when it was. Taken is only what can't be somebody's load: all is known, the process list is there and
// empty, utilisation is below its margin (AICore: its limit), memory below idle_memory_percent of the card, and, once
// there is a level, memory and power within their margins above it, so that a slow neighbour is not learned as idle.
std::string LearnIdle(const v1::WatchConfig& config, const v1::LoadSample& sample, v1::LoadBaseline* baseline);

// `gpu 0 idle: 1412 MiB, 22.2 W, 427 MHz, 3 % (12 samples, driver 610.62)`, or `... 4 of 10 samples, not learned`.
std::string BaselineText(const v1::WatchConfig& config, const v1::LoadBaseline& baseline);

// Driver that a sample names; empty when unknown.
std::string DriverOf(const v1::LoadSample& sample);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_JUDGE_BASELINE_H_
