#include "agent/watch/judge/phase_tally.h"

#include <algorithm>

namespace pyptox::agent {

void PhaseTally::Mark(int64_t offset_ms) {
  if (previous_ms_.has_value() && offset_ms > *previous_ms_) {
    counts_.set_max_gap_ms(std::max(counts_.max_gap_ms(), static_cast<uint64_t>(offset_ms - *previous_ms_)));
  }
  previous_ms_ = offset_ms;
}

void PhaseTally::Add(const v1::LoadSample& sample, LoadMoment moment) {
  Mark(sample.offset_ms());
  counts_.set_samples(counts_.samples() + 1);
  const v1::LoadVerdict verdict = JudgeSample(config_, level_, sample, moment);
  const bool ours = ListsOurs(sample);
  switch (verdict.state()) {
    case v1::LOAD_STATE_FOREIGN:
      counts_.set_foreign(counts_.foreign() + 1);
      if (counts_.foreign() == 1) *counts_.mutable_worst() = verdict;
      break;
    case v1::LOAD_STATE_CLEAN:
      if (moment == LoadMoment::kSettling || IsFirstOfCounters(sample)) {
        counts_.set_settling(counts_.settling() + 1);
      } else {
        counts_.set_clean(counts_.clean() + 1);
      }
      if (moment == LoadMoment::kLeg && !ours && !previous_ours_ && IsGpuInUse(config_, level_, sample)) {
        counts_.set_unattributed(counts_.unattributed() + 1);
      }
      break;
    default:
      counts_.set_unobservable(counts_.unobservable() + 1);
      if (!counts_.has_worst()) *counts_.mutable_worst() = verdict;
      break;
  }
  previous_ours_ = ours;
  Keep(sample, verdict.state());
}

void PhaseTally::Keep(const v1::LoadSample& sample, v1::LoadState state) {
  const uint32_t number = counts_.samples();
  if (number <= kKept || (state == v1::LOAD_STATE_FOREIGN && counts_.foreign() <= kKept) ||
      (state == v1::LOAD_STATE_UNOBSERVABLE && counts_.unobservable() <= kKept)) {
    kept_.emplace(number, sample);
  }
  last_.emplace(number, sample);
  if (last_.size() > kKept) last_.erase(last_.begin());
}

v1::LoadPhase PhaseTally::phase() const {
  v1::LoadPhase phase = counts_;
  std::map<uint32_t, v1::LoadSample> kept = kept_;
  kept.insert(last_.begin(), last_.end());
  for (const auto& [number, sample] : kept) *phase.add_kept() = sample;
  return phase;
}

}  // namespace pyptox::agent
