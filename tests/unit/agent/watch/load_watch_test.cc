#include "agent/watch/load_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <string>

#include "agent/watch/judge/judge.h"
#include "tests/unit/agent/watch/load_values.h"

namespace pyptox::agent {
namespace {

// A watch over a scripted device, on a clock that moves with each pause and each sample.
class LoadWatchTest : public ::testing::Test {
 protected:
  LoadWatch Make(const v1::WatchConfig& config, const v1::LoadSample& idle) {
    return LoadWatch(config, config.kind() == v1::WATCH_KIND_CPU ? v1::LoadBaseline() : BaselineOf(config, idle),
                     [this] {
                       ++taken_;
                       taken_.notify_all();
                       return source_();
                     },
                     {[this] {
                        return Now{MonoTime{clock_ms_ * 1'000'000}, WallTime{}};
                      },
                      [this](Duration wait) {
                        ++pauses_;
                        clock_ms_ += wait.ns / 1'000'000;
                      }});
  }
  // Until `count` samples were taken in all.
  void AwaitSamples(int count) {
    for (int seen = taken_; seen < count; seen = taken_) taken_.wait(seen);
  }
  static v1::WatchConfig FastGpu() {
    v1::WatchConfig config = GpuConfig();
    config.set_interval_ms(1);
    config.set_settle_ms(3);
    return config;
  }

  std::function<v1::LoadSample()> source_ = IdleGpu;
  std::atomic<int> taken_ = 0;
  std::atomic<int64_t> clock_ms_ = 5000;
  int pauses_ = 0;
};

TEST_F(LoadWatchTest, ACleanLeg) {
  LoadWatch watch = Make(FastGpu(), IdleGpu());
  watch.Before();
  EXPECT_EQ(taken_, 3);
  EXPECT_EQ(pauses_, 2);
  clock_ms_ += 10;
  watch.Start();
  AwaitSamples(7);
  clock_ms_ += 100;
  watch.Stop();
  const int during = taken_ - 3;
  watch.After();
  const v1::LoadEvidence evidence = watch.Evidence();
  EXPECT_EQ(VerdictText(evidence.verdict()), "clean");
  EXPECT_EQ(evidence.before().clean(), 3u);
  EXPECT_EQ(evidence.before().kept(0).offset_ms(), -12);
  EXPECT_EQ(evidence.before().kept(2).offset_ms(), -10);
  EXPECT_EQ(evidence.during().clean(), static_cast<uint32_t>(during));
  EXPECT_GE(during, 4);
  EXPECT_EQ(evidence.leg_ms(), 100);
  EXPECT_EQ(evidence.during().max_gap_ms(), 100u);
  // 100, 101 and 102 ms are within the 3 ms in which the device settles.
  EXPECT_EQ(evidence.after().settling(), 3u);
  EXPECT_EQ(evidence.after().clean(), 3u);
  EXPECT_EQ(evidence.after().kept(0).offset_ms(), 100);
  EXPECT_EQ(evidence.baseline().count(), 10u);
  EXPECT_EQ(evidence.config().interval_ms(), 1u);
}

TEST_F(LoadWatchTest, AGameBeforeTheLegIsKnownAtOnce) {
  LoadWatch watch = Make(FastGpu(), IdleGpu());
  source_ = [] {
    v1::LoadSample sample = IdleGpu();
    sample.mutable_gpu()->set_utilization_percent(97);
    return sample;
  };
  watch.Before();
  EXPECT_EQ(VerdictText(watch.Evidence().verdict()),
            "foreign(gpu 0: utilisation 97 % with no process of ours, before the leg)");
}

TEST_F(LoadWatchTest, WithoutAllPhasesItIsNeverClean) {
  LoadWatch watch = Make(FastGpu(), IdleGpu());
  EXPECT_EQ(watch.Evidence().verdict().state(), v1::LOAD_STATE_UNOBSERVABLE);
  watch.Before();
  EXPECT_EQ(watch.Evidence().verdict().state(), v1::LOAD_STATE_UNOBSERVABLE);
  watch.Start();
  EXPECT_EQ(watch.Evidence().verdict().state(), v1::LOAD_STATE_UNOBSERVABLE);
  AwaitSamples(4);
  watch.Stop();
  EXPECT_EQ(VerdictText(watch.Evidence().verdict()), "unobservable(gpu 0: 0 idle samples after the leg, 3 are needed)");
}

TEST_F(LoadWatchTest, StopEndsTheThreadAndASecondStartDoesNothing) {
  LoadWatch watch = Make(FastGpu(), IdleGpu());
  watch.Start();
  watch.Start();
  AwaitSamples(1);
  watch.Stop();
  const int taken = taken_;
  watch.Stop();
  watch.Start();
  EXPECT_EQ(taken_, taken);
  EXPECT_EQ(watch.Evidence().during().samples(), static_cast<uint32_t>(taken));
}

TEST_F(LoadWatchTest, TheDestructorEndsTheThread) {
  {
    LoadWatch watch = Make(GpuConfig(), IdleGpu());
    watch.Start();
    AwaitSamples(1);
  }
  EXPECT_GE(taken_, 1);
}

TEST_F(LoadWatchTest, CpusTakeOneSampleMoreToCompareWith) {
  LoadWatch watch = Make(CpuConfig(), IdleCpu());
  source_ = [this] {
    v1::LoadSample sample = IdleCpu();
    if (taken_ == 1) sample.mutable_cpu()->clear_foreign_cpus();
    return sample;
  };
  watch.Before();
  EXPECT_EQ(taken_, 4);
  const v1::LoadEvidence evidence = watch.Evidence();
  EXPECT_EQ(evidence.before().clean(), 3u);
  EXPECT_FALSE(evidence.has_baseline());
}

TEST_F(LoadWatchTest, AClockThatStandsStillEndsAfterAllTheSame) {
  LoadWatch watch(FastGpu(), BaselineOf(FastGpu(), IdleGpu()), [this] { return ++taken_, IdleGpu(); },
                  {[] {
                     return Now{MonoTime{7}, WallTime{}};
                   },
                   [](Duration) {}});
  watch.Before();
  watch.Start();
  watch.Stop();
  watch.After();
  EXPECT_EQ(watch.Evidence().after().settling(), 7u);
  EXPECT_EQ(watch.Evidence().verdict().state(), v1::LOAD_STATE_UNOBSERVABLE);
}

TEST_F(LoadWatchTest, EvidenceIsBounded) {
  v1::WatchConfig many = FastGpu();
  many.set_idle_samples(5000);
  LoadWatch watch = Make(many, IdleGpu());
  watch.Before();
  const v1::LoadEvidence evidence = watch.Evidence();
  EXPECT_EQ(evidence.before().samples(), 5000u);
  EXPECT_EQ(evidence.before().kept_size(), 8);
}

}  // namespace
}  // namespace pyptox::agent
