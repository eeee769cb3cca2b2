#include "agent/watch/load_watch.h"

#include <chrono>
#include <utility>

#include "agent/watch/judge/judge.h"

namespace pyptox::agent {
namespace {

// Samples are kept with offsets since the watch was made; readers want them since the leg began.
void Shift(int64_t by_ms, v1::LoadPhase* phase) {
  for (v1::LoadSample& sample : *phase->mutable_kept()) sample.set_offset_ms(sample.offset_ms() - by_ms);
}

}  // namespace

LoadWatch::LoadWatch(v1::WatchConfig config, v1::LoadBaseline baseline, TakeSample take, Timing timing)
    : config_(std::move(config)),
      baseline_(std::move(baseline)),
      take_(std::move(take)),
      timing_(std::move(timing)),
      made_(timing_.now().mono),
      before_(config_, IdleLevelOf(config_, baseline_, baseline_.driver())),
      during_(config_, IdleLevelOf(config_, baseline_, baseline_.driver())),
      after_(config_, IdleLevelOf(config_, baseline_, baseline_.driver())) {}

LoadWatch::~LoadWatch() { Stop(); }

int64_t LoadWatch::ElapsedMs() const { return (timing_.now().mono - made_).ns / 1'000'000; }

void LoadWatch::TakeInto(PhaseTally* tally, LoadMoment moment) {
  const int64_t at = ElapsedMs();
  v1::LoadSample sample = take_();
  sample.set_offset_ms(at);
  tally->Add(sample, moment);
}

void LoadWatch::Before() {
  const uint32_t count = config_.idle_samples() + (config_.kind() == v1::WATCH_KIND_CPU ? 1 : 0);
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) timing_.pause(Milliseconds(config_.interval_ms()));
    TakeInto(&before_, LoadMoment::kIdle);
  }
}

void LoadWatch::Start() {
  if (thread_.joinable() || started_ms_.has_value()) return;
  started_ms_ = ElapsedMs();
  during_.Mark(*started_ms_);
  thread_ = std::thread([this] { Run(); });
}

void LoadWatch::Run() {
  while (true) {
    TakeInto(&during_, LoadMoment::kLeg);
    std::unique_lock<std::mutex> lock(mutex_);
    if (stop_changed_.wait_for(lock, std::chrono::milliseconds(config_.interval_ms()), [this] { return stop_; }))
      return;
  }
}

void LoadWatch::Stop() {
  if (!thread_.joinable()) return;
  ended_ms_ = ElapsedMs();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  stop_changed_.notify_all();
  thread_.join();
  during_.Mark(*ended_ms_);
}

void LoadWatch::After() {
  if (!ended_ms_.has_value()) return;
  // Bounded also when the clock does not move.
  const uint32_t most = config_.settle_ms() / config_.interval_ms() + 1 + config_.idle_samples();
  uint32_t idle = 0;
  for (uint32_t i = 0; i < most && idle < config_.idle_samples(); ++i) {
    if (i > 0) timing_.pause(Milliseconds(config_.interval_ms()));
    const bool settled = ElapsedMs() - *ended_ms_ >= config_.settle_ms();
    idle += settled ? 1 : 0;
    TakeInto(&after_, settled ? LoadMoment::kIdle : LoadMoment::kSettling);
  }
}

v1::LoadEvidence LoadWatch::Evidence() const {
  v1::LoadEvidence evidence;
  *evidence.mutable_config() = config_;
  if (config_.kind() != v1::WATCH_KIND_CPU) *evidence.mutable_baseline() = baseline_;
  *evidence.mutable_before() = before_.phase();
  // The thread may still fill it.
  if (!thread_.joinable()) *evidence.mutable_during() = during_.phase();
  *evidence.mutable_after() = after_.phase();
  const int64_t start = started_ms_.value_or(ElapsedMs());
  Shift(start, evidence.mutable_before());
  Shift(start, evidence.mutable_during());
  Shift(start, evidence.mutable_after());
  if (ended_ms_.has_value()) evidence.set_leg_ms(*ended_ms_ - start);
  *evidence.mutable_verdict() = JudgeLoad(evidence);
  return evidence;
}

}  // namespace pyptox::agent
