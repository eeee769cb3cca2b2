#include "agent/watch/judge/judge.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/watch/judge/watch_config.h"

namespace pyptox::agent {
namespace {

// Calls of the tool that one sample may need (agent/watch/sampler.h: the table, processes and usages; twice to spare).
constexpr uint64_t kCallsPerSample = 5;
// Samples in use without a process of ours that can't be chance: a process that lives for less than an interval is
// listed in one of several.
constexpr uint32_t kLeastUnattributed = 3;

struct NamedPhase {
  const v1::LoadPhase& phase;
  std::string_view name;
};

v1::LoadVerdict MakeVerdict(const v1::WatchConfig& config, v1::LoadState state, std::string reason) {
  v1::LoadVerdict verdict;
  verdict.set_state(state);
  verdict.set_what(DeviceName(config));
  verdict.set_reason(std::move(reason));
  return verdict;
}

// Longest time between two samples of a sampler that works, milliseconds.
uint64_t LongestGap(const v1::WatchConfig& config) {
  return config.interval_ms() + kCallsPerSample * config.tool_timeout_ms();
}

std::optional<std::string> MissingSamples(const v1::LoadEvidence& evidence) {
  const v1::WatchConfig& config = evidence.config();
  for (const NamedPhase& named : {NamedPhase{evidence.before(), "before"}, NamedPhase{evidence.after(), "after"}}) {
    if (named.phase.clean() >= config.idle_samples() && named.phase.clean() > 0) continue;
    return fmt::format("{} idle samples {} the leg, {} are needed", named.phase.clean(), named.name,
                       config.idle_samples());
  }
  if (evidence.during().samples() == 0) return "no sample during the leg";
  if (evidence.during().max_gap_ms() > LongestGap(config)) {
    return fmt::format("no sample for {} ms during the leg", evidence.during().max_gap_ms());
  }
  return std::nullopt;
}

}  // namespace

v1::LoadVerdict JudgeLoad(const v1::LoadEvidence& evidence) {
  const v1::WatchConfig& config = evidence.config();
  const NamedPhase phases[] = {
      {evidence.before(), "before"}, {evidence.during(), "during"}, {evidence.after(), "after"}};
  for (const NamedPhase& named : phases) {
    if (named.phase.foreign() == 0) continue;
    return MakeVerdict(config, v1::LOAD_STATE_FOREIGN,
                       fmt::format("{}, {} the leg", named.phase.worst().reason(), named.name));
  }
  const v1::LoadPhase& during = evidence.during();
  const bool whole_view = config.process_view() == v1::PROCESS_VIEW_WHOLE;
  if (whole_view && during.unattributed() >= kLeastUnattributed && during.unattributed() * 2 > during.samples()) {
    return MakeVerdict(config, v1::LOAD_STATE_FOREIGN,
                       fmt::format("in use with no process of ours in {} of {} samples during the leg",
                                   during.unattributed(), during.samples()));
  }
  for (const NamedPhase& named : phases) {
    if (named.phase.unobservable() == 0) continue;
    return MakeVerdict(config, v1::LOAD_STATE_UNOBSERVABLE,
                       fmt::format("{}, {} the leg", named.phase.worst().reason(), named.name));
  }
  if (std::optional<std::string> missing = MissingSamples(evidence)) {
    return MakeVerdict(config, v1::LOAD_STATE_UNOBSERVABLE, *std::move(missing));
  }
  const bool hidden = config.kind() != v1::WATCH_KIND_CPU && !whole_view;
  return MakeVerdict(
      config, v1::LOAD_STATE_CLEAN,
      hidden ? "processes are hidden here: idle before and after the leg, during it not told apart" : "");
}

std::string VerdictText(const v1::LoadVerdict& verdict) {
  switch (verdict.state()) {
    case v1::LOAD_STATE_CLEAN:
      return "clean";
    case v1::LOAD_STATE_FOREIGN:
      return fmt::format("foreign({}: {})", verdict.what(), verdict.reason());
    default:
      return fmt::format("unobservable({}: {})", verdict.what(),
                         verdict.reason().empty() ? "nothing was judged" : verdict.reason());
  }
}

}  // namespace pyptox::agent
