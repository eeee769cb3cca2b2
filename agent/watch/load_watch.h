// Watches a device before, during and after one leg, and gives the evidence.
#ifndef PYPTOX_AGENT_WATCH_LOAD_WATCH_H_
#define PYPTOX_AGENT_WATCH_LOAD_WATCH_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "agent/watch/judge/phase_tally.h"
#include "base/time_types.h"
#include "pyptox/v1/load.pb.h"

namespace pyptox::agent {

// Before(), Start(), the leg, Stop(), After(), Evidence(). One caller's thread makes all calls. Between Start() and
// Stop() samples are taken on a thread of its own, so `take` never runs twice at a time. Memory is bounded, however
// long the leg is.
class LoadWatch {
 public:
  // Takes a sample, as Sampler::Take.
  using TakeSample = std::function<v1::LoadSample()>;
  struct Timing {
    std::function<Now()> now;
    // Waits between the samples before and after the leg; may return early, e.g. when the agent stops.
    std::function<void(Duration)> pause;
  };

  // `config` with its defaults (Sampler::config).
  LoadWatch(v1::WatchConfig config, v1::LoadBaseline baseline, TakeSample take, Timing timing);
  // Ends the thread; blocks for a sample at most.
  ~LoadWatch();
  LoadWatch(const LoadWatch&) = delete;
  LoadWatch& operator=(const LoadWatch&) = delete;

  // Takes idle_samples samples, for CPUs one more, whose counters the next are compared with. A FOREIGN verdict after
  // this may spare the leg.
  void Before();
  // The leg begins.
  void Start();
  // The leg has ended, and no process of ours is on the device. Blocks for a sample at most.
  void Stop();
  // Takes samples until idle_samples of them lie settle_ms and more after the leg.
  void After();

  // All so far, with its verdict. Before After() it can be FOREIGN or UNOBSERVABLE only.
  v1::LoadEvidence Evidence() const;

 private:
  // Takes a sample into `tally`, with its offset since this watch was made.
  void TakeInto(PhaseTally* tally, LoadMoment moment);
  void Run();
  int64_t ElapsedMs() const;

  const v1::WatchConfig config_;
  const v1::LoadBaseline baseline_;
  const TakeSample take_;
  const Timing timing_;
  const MonoTime made_;
  PhaseTally before_;
  // Of the thread between Start() and Stop().
  PhaseTally during_;
  PhaseTally after_;
  std::optional<int64_t> started_ms_;
  std::optional<int64_t> ended_ms_;

  std::mutex mutex_;
  std::condition_variable stop_changed_;
  // Guarded by mutex_.
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_WATCH_LOAD_WATCH_H_
