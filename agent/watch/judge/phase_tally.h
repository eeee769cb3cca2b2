// Folds the samples of one phase into a LoadPhase of bounded size. Pure.
#ifndef PYPTOX_AGENT_WATCH_JUDGE_PHASE_TALLY_H_
#define PYPTOX_AGENT_WATCH_JUDGE_PHASE_TALLY_H_

#include <cstdint>
#include <map>
#include <optional>

#include "agent/watch/judge/sample_judge.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

class PhaseTally {
 public:
  // Samples that are kept of each sort: first, last, foreign, unobservable. Four show a trend.
  static constexpr size_t kKept = 4;

  // `config` with its defaults; `level` as the samples are to be held against.
  PhaseTally(v1::WatchConfig config, IdleLevel level) : config_(std::move(config)), level_(std::move(level)) {}

  // Samples come in order of time.
  void Add(const v1::LoadSample& sample, LoadMoment moment);
  // A time from or up to which there should have been samples, for max_gap_ms: the leg's start and end.
  void Mark(int64_t offset_ms);

  v1::LoadPhase phase() const;

 private:
  void Keep(const v1::LoadSample& sample, v1::LoadState state);

  v1::WatchConfig config_;
  IdleLevel level_;
  // Counts and the worst verdict; `kept` is filled by phase().
  v1::LoadPhase counts_;
  // By number of the sample.
  std::map<uint32_t, v1::LoadSample> kept_;
  std::map<uint32_t, v1::LoadSample> last_;
  std::optional<int64_t> previous_ms_;
  bool previous_ours_ = false;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_JUDGE_PHASE_TALLY_H_
