#include "agent/watch/judge/judge.h"

#include <gtest/gtest.h>

#include <string>

#include "agent/watch/judge/phase_tally.h"
#include "tests/unit/agent/watch/load_values.h"

namespace pyptox::agent {
namespace {

v1::LoadSample At(v1::LoadSample sample, int64_t offset_ms) {
  sample.set_offset_ms(offset_ms);
  return sample;
}

// A leg of ten seconds, as a LoadWatch folds it.
class JudgeLoadTest : public ::testing::Test {
 protected:
  void Use(const v1::WatchConfig& config, const v1::LoadSample& idle) {
    config_ = config;
    const IdleLevel level = LevelOf(config, idle);
    before_.emplace(config, level);
    during_.emplace(config, level);
    after_.emplace(config, level);
    during_->Mark(0);
  }
  void SetUp() override { Use(GpuConfig(), IdleGpu()); }

  void CleanBefore(int count = 3) {
    for (int i = 0; i < count; ++i) before_->Add(At(IdleGpu(), -1000 * (count - i)), LoadMoment::kIdle);
  }
  void CleanDuring() {
    for (int i = 0; i < 10; ++i) during_->Add(At(OwnGpu(), 1000 * i), LoadMoment::kLeg);
  }
  void CleanAfter(int count = 3) {
    for (int i = 0; i < count; ++i) after_->Add(At(IdleGpu(), 14000 + 1000 * i), LoadMoment::kIdle);
  }
  static v1::LoadSample OwnGpu() {
    v1::LoadSample sample = IdleGpu();
    sample.mutable_gpu()->set_utilization_percent(99);
    *sample.mutable_gpu()->add_processes() = Process(41002, true, 412);
    return sample;
  }
  static v1::LoadSample BusyGpu() {
    v1::LoadSample sample = IdleGpu();
    sample.mutable_gpu()->set_utilization_percent(97);
    return sample;
  }
  static v1::LoadSample Hung() {
    v1::LoadSample sample;
    sample.set_fault("nvidia-smi did not answer in time");
    return sample;
  }

  std::string Verdict() {
    during_->Mark(10000);
    v1::LoadEvidence evidence;
    *evidence.mutable_config() = config_;
    *evidence.mutable_before() = before_->phase();
    *evidence.mutable_during() = during_->phase();
    *evidence.mutable_after() = after_->phase();
    evidence.set_leg_ms(10000);
    last_ = JudgeLoad(evidence);
    return VerdictText(last_);
  }

  v1::WatchConfig config_;
  std::optional<PhaseTally> before_;
  std::optional<PhaseTally> during_;
  std::optional<PhaseTally> after_;
  v1::LoadVerdict last_;
};

TEST_F(JudgeLoadTest, CleanThroughout) {
  CleanBefore();
  CleanDuring();
  CleanAfter();
  EXPECT_EQ(Verdict(), "clean");
  EXPECT_EQ(last_.reason(), "");
}

TEST_F(JudgeLoadTest, CleanWhereProcessesAreHiddenSaysSo) {
  Use(GpuConfig(v1::PROCESS_VIEW_HIDDEN), IdleGpu());
  CleanBefore();
  // Our process is not listed, and nothing during the leg can be told apart.
  for (int i = 0; i < 10; ++i) during_->Add(At(BusyGpu(), 1000 * i), LoadMoment::kLeg);
  CleanAfter();
  EXPECT_EQ(Verdict(), "clean");
  EXPECT_EQ(last_.reason(), "processes are hidden here: idle before and after the leg, during it not told apart");
}

TEST_F(JudgeLoadTest, AGameBeforeOrAfterIsForeign) {
  before_->Add(At(BusyGpu(), -4000), LoadMoment::kIdle);
  CleanBefore();
  CleanDuring();
  CleanAfter();
  EXPECT_EQ(Verdict(), "foreign(gpu 0: utilisation 97 % with no process of ours, before the leg)");
  SetUp();
  CleanBefore();
  CleanDuring();
  CleanAfter();
  after_->Add(At(BusyGpu(), 18000), LoadMoment::kIdle);
  EXPECT_EQ(Verdict(), "foreign(gpu 0: utilisation 97 % with no process of ours, after the leg)");
}

TEST_F(JudgeLoadTest, OneForeignSampleDuringTheLegIsForeign) {
  CleanBefore();
  CleanDuring();
  v1::LoadSample sample = OwnGpu();
  *sample.mutable_gpu()->add_processes() = Process(41077, false, 1808, "python3");
  during_->Add(At(sample, 9500), LoadMoment::kLeg);
  CleanAfter();
  EXPECT_EQ(Verdict(), "foreign(gpu 0: process 41077 (python3, 1808 MiB), during the leg)");
}

TEST_F(JudgeLoadTest, OneUnobservableSampleIsUnobservable) {
  CleanBefore();
  CleanDuring();
  during_->Add(At(Hung(), 9500), LoadMoment::kLeg);
  CleanAfter();
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: nvidia-smi did not answer in time, during the leg)");
}

TEST_F(JudgeLoadTest, ForeignWinsOverUnobservableWhereverItIs) {
  before_->Add(At(Hung(), -9000), LoadMoment::kIdle);
  CleanBefore();
  CleanDuring();
  CleanAfter();
  after_->Add(At(BusyGpu(), 18000), LoadMoment::kIdle);
  EXPECT_EQ(Verdict(), "foreign(gpu 0: utilisation 97 % with no process of ours, after the leg)");
}

TEST_F(JudgeLoadTest, ForeignAfterUnobservableInOnePhase) {
  CleanBefore();
  during_->Add(At(Hung(), 100), LoadMoment::kLeg);
  v1::LoadSample sample = OwnGpu();
  *sample.mutable_gpu()->add_processes() = Process(41077, false);
  during_->Add(At(sample, 9500), LoadMoment::kLeg);
  during_->Add(At(Hung(), 9600), LoadMoment::kLeg);
  CleanAfter();
  EXPECT_EQ(Verdict(), "foreign(gpu 0: process 41077, during the leg)");
}

TEST_F(JudgeLoadTest, TooFewSamplesAreUnobservable) {
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: 0 idle samples before the leg, 3 are needed)");
  CleanBefore();
  CleanAfter();
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: no sample during the leg)");
  SetUp();
  CleanBefore(2);
  CleanDuring();
  CleanAfter();
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: 2 idle samples before the leg, 3 are needed)");
  SetUp();
  CleanBefore();
  CleanDuring();
  CleanAfter(2);
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: 2 idle samples after the leg, 3 are needed)");
}

TEST_F(JudgeLoadTest, SettlingSamplesAreNoIdleSamples) {
  CleanBefore();
  CleanDuring();
  v1::LoadSample hot = IdleGpu();
  hot.mutable_gpu()->set_power_w(180);
  hot.mutable_gpu()->set_sm_clock_mhz(2700);
  for (int i = 0; i < 3; ++i) after_->Add(At(hot, 10000 + 500 * i), LoadMoment::kSettling);
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: 0 idle samples after the leg, 3 are needed)");
  CleanAfter();
  EXPECT_EQ(Verdict(), "clean");
}

TEST_F(JudgeLoadTest, AGapInTheLegIsUnobservable) {
  CleanBefore();
  CleanAfter();
  config_.set_interval_ms(1000);
  config_.set_tool_timeout_ms(1000);
  during_->Add(At(OwnGpu(), 100), LoadMoment::kLeg);
  during_->Add(At(OwnGpu(), 6100), LoadMoment::kLeg);
  EXPECT_EQ(Verdict(), "clean");
  during_->Add(At(OwnGpu(), 12101), LoadMoment::kLeg);
  during_->Add(At(OwnGpu(), 18102), LoadMoment::kLeg);
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: no sample for 6001 ms during the leg)");
}

TEST_F(JudgeLoadTest, NoSampleUpToTheEndIsAGapToo) {
  CleanBefore();
  CleanAfter();
  config_.set_tool_timeout_ms(1000);
  during_->Add(At(OwnGpu(), 100), LoadMoment::kLeg);
  EXPECT_EQ(Verdict(), "unobservable(gpu 0: no sample for 9900 ms during the leg)");
}

TEST_F(JudgeLoadTest, InUseAndNeverAProcessOfOurs) {
  CleanBefore();
  for (int i = 0; i < 10; ++i) during_->Add(At(BusyGpu(), 1000 * i), LoadMoment::kLeg);
  CleanAfter();
  EXPECT_EQ(Verdict(), "foreign(gpu 0: in use with no process of ours in 10 of 10 samples during the leg)");
}

TEST_F(JudgeLoadTest, ShortProcessesOfOursAreSeenNowAndThen) {
  CleanBefore();
  // Every third sample lists ours; utilisation is of the second before, so the sample after one is ours too.
  for (int i = 0; i < 9; ++i) during_->Add(At(i % 3 == 0 ? OwnGpu() : BusyGpu(), 1000 * i), LoadMoment::kLeg);
  CleanAfter();
  EXPECT_EQ(during_->phase().unattributed(), 3u);
  EXPECT_EQ(Verdict(), "clean");
  SetUp();
  CleanBefore();
  for (int i = 0; i < 2; ++i) during_->Add(At(BusyGpu(), 1000 * i), LoadMoment::kLeg);
  CleanAfter();
  EXPECT_EQ(Verdict(), "clean");
}

TEST_F(JudgeLoadTest, TheFirstCpuSampleHasNothingToCompareWith) {
  Use(CpuConfig(), IdleCpu());
  v1::LoadSample first = IdleCpu();
  first.mutable_cpu()->clear_foreign_cpus();
  for (int i = 0; i < 3; ++i) before_->Add(At(i == 0 ? first : IdleCpu(), -3000 + 1000 * i), LoadMoment::kIdle);
  EXPECT_EQ(before_->phase().clean(), 2u);
  EXPECT_EQ(before_->phase().settling(), 1u);
  during_->Add(At(IdleCpu(), 100), LoadMoment::kLeg);
  for (int i = 0; i < 3; ++i) after_->Add(At(IdleCpu(), 11000 + 1000 * i), LoadMoment::kIdle);
  EXPECT_EQ(Verdict(), "unobservable(cpu: 2 idle samples before the leg, 3 are needed)");
  before_->Add(At(IdleCpu(), -1), LoadMoment::kIdle);
  EXPECT_EQ(Verdict(), "clean");
  EXPECT_EQ(last_.reason(), "");
}

TEST_F(JudgeLoadTest, AnEmptyEvidenceIsUnobservable) {
  EXPECT_EQ(JudgeLoad(v1::LoadEvidence()).state(), v1::LOAD_STATE_UNOBSERVABLE);
  EXPECT_EQ(VerdictText(v1::LoadVerdict()), "unobservable(: nothing was judged)");
}

TEST_F(JudgeLoadTest, MemoryIsBoundedAndKeepsWhatTheVerdictRestsOn) {
  v1::LoadSample foreign = OwnGpu();
  *foreign.mutable_gpu()->add_processes() = Process(41077, false);
  for (int i = 0; i < 100000; ++i) {
    during_->Add(At(i >= 50000 && i < 50010 ? foreign : i == 70000 ? Hung() : OwnGpu(), i), LoadMoment::kLeg);
  }
  const v1::LoadPhase phase = during_->phase();
  EXPECT_EQ(phase.samples(), 100000u);
  EXPECT_EQ(phase.foreign(), 10u);
  EXPECT_EQ(phase.unobservable(), 1u);
  EXPECT_EQ(phase.clean(), 99989u);
  std::string kept;
  for (const v1::LoadSample& sample : phase.kept()) kept += std::to_string(sample.offset_ms()) + " ";
  EXPECT_EQ(kept, "0 1 2 3 50000 50001 50002 50003 70000 99996 99997 99998 99999 ");
}

}  // namespace
}  // namespace pyptox::agent
