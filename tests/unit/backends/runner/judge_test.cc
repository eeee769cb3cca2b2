#include "backends/runner/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace pyptox::runner {
namespace {

constexpr FpControl kUsual = {0x1f80, 0};
constexpr FpControl kFlushing = {0x9f80, 0};

Manifest ThreeLaunches() {
  Manifest manifest;
  manifest.module = "k.so";
  manifest.symbol = "f";
  manifest.repeat = 3;
  return manifest;
}

compare::Comparison Equal() {
  compare::Comparison comparison;
  comparison.equal = true;
  return comparison;
}

compare::Comparison Different() {
  compare::Comparison comparison;
  comparison.elements = 4;
  comparison.different = 2;
  comparison.first = {1, {1}, "0x01", "0x02", "1", "2", 1};
  return comparison;
}

// Everything held.
Observation Good() {
  Observation seen;
  seen.load = LoadReport{.before = kUsual, .after = kUsual};
  for (int i = 0; i < 3; ++i) seen.launches.push_back({0, kUsual, 5});
  seen.outputs.push_back({"y", "", "", 4, Equal()});
  return seen;
}

TEST(Judge, AllHeldIsAPass) {
  const Judgement judgement = Judge(ThreeLaunches(), Good());
  EXPECT_EQ(judgement.outcome, "PASS");
  EXPECT_EQ(judgement.reason, "");
}

// The faults in the order of blame: each is seen through all the later ones.
const std::vector<std::pair<std::string, std::function<void(Observation&)>>>& FaultsByBlame() {
  static const auto* const kFaults = new std::vector<std::pair<std::string, std::function<void(Observation&)>>>{
      {"BAD_FILE", [](Observation& seen) { seen.bad_file = "golden.bin: No such file"; }},
      {"BLOCKED_DEVICE", [](Observation& seen) { seen.blocked = "no SVE"; }},
      {"NO_MODULE", [](Observation& seen) { seen.load->state = LoadState::kNoModule; }},
      {"OUT_OF_BOUNDS", [](Observation& seen) { seen.stray.broken_guard = "launch 1 wrote 1 byte after buffer y"; }},
      {"CRASH",
       [](Observation& seen) {
         seen.end = ChildEnd::kSignal;
         seen.end_value = 11;
       }},
      {"FP_ENVIRONMENT", [](Observation& seen) { seen.load->after = kFlushing; }},
      {"WRONG_STATUS", [](Observation& seen) { seen.launches[0].status = 7; }},
      {"FP_ENVIRONMENT", [](Observation& seen) { seen.launches[1].after = kFlushing; }},
      {"INPUT_CHANGED", [](Observation& seen) { seen.stray.changed_input = "input x was changed"; }},
      {"MISMATCH", [](Observation& seen) { seen.stray.written_though_refused = "the kernel refused, but wrote to y"; }},
      {"NOT_DETERMINISTIC", [](Observation& seen) { seen.stray.differs_from_first = "launch 2 gave other bytes"; }},
      {"MISMATCH", [](Observation& seen) { seen.outputs[0].comparison = Different(); }},
      {"INFRA", [](Observation& seen) { seen.launches.resize(2); }},
  };
  return *kFaults;
}

TEST(Judge, EachFaultHasItsOutcomeAndBlameHasAnOrder) {
  const auto& faults = FaultsByBlame();
  for (size_t i = 0; i < faults.size(); ++i) {
    Observation alone = Good();
    faults[i].second(alone);
    EXPECT_EQ(Judge(ThreeLaunches(), alone).outcome, faults[i].first) << i;
    EXPECT_NE(Judge(ThreeLaunches(), alone).reason, "") << i;
    for (size_t j = i + 1; j < faults.size(); ++j) {
      Observation both = Good();
      faults[j].second(both);
      faults[i].second(both);
      EXPECT_EQ(Judge(ThreeLaunches(), both).outcome, faults[i].first) << i << " with " << j;
    }
  }
}

TEST(Judge, AGoldenThatWasNotComparedIsNoPass) {
  Manifest manifest = ThreeLaunches();
  manifest.buffers.resize(2);
  for (BufferSpec& buffer : manifest.buffers) buffer.golden = FileRegion{"y.bin", 0, false};
  Observation seen = Good();
  EXPECT_EQ(Judge(manifest, seen).outcome, "INFRA");
  EXPECT_EQ(Judge(manifest, seen).reason, "not every output was compared");
  seen.outputs.push_back({"z", "", "", 4, {}});
  EXPECT_EQ(Judge(manifest, seen).outcome, "INFRA");
  seen.outputs[1].comparison = Equal();
  EXPECT_EQ(Judge(manifest, seen).outcome, "PASS");
}

TEST(Judge, HowTheChildEnded) {
  const struct {
    ChildEnd end;
    int32_t value;
    const char* outcome;
    const char* reason;
  } table[] = {{ChildEnd::kSignal, 8, "CRASH", "died by signal 8 (Floating point exception) in launch 2"},
               {ChildEnd::kExit, 0, "EXITED", "the process exited with status 0 in launch 2"},
               {ChildEnd::kTimeout, 0, "HANG", "did not end within its limit in launch 2"},
               {ChildEnd::kNonsense, 0, "CRASH", "broke the conversation with the runner in launch 2"}};
  for (const auto& row : table) {
    Observation seen = Good();
    seen.launches.resize(1);
    seen.end = row.end;
    seen.end_value = row.value;
    EXPECT_EQ(Judge(ThreeLaunches(), seen).outcome, row.outcome);
    EXPECT_EQ(Judge(ThreeLaunches(), seen).reason, row.reason);
  }
}

TEST(Judge, AnEndBeforeTheLoadIsOverIsTheModules) {
  Observation seen;
  seen.end = ChildEnd::kSignal;
  seen.end_value = 6;
  EXPECT_EQ(Judge(ThreeLaunches(), seen).reason, "died by signal 6 (Aborted) while the module was loaded");
}

TEST(Judge, AnExpectedRefusalIsAPassOnlyByThatStatus) {
  Manifest manifest = ThreeLaunches();
  manifest.expect_status = 2;
  Observation seen = Good();
  seen.outputs[0].comparison.reset();
  EXPECT_EQ(Judge(manifest, seen).outcome, "WRONG_STATUS");
  for (LaunchObservation& launch : seen.launches) launch.status = 2;
  EXPECT_EQ(Judge(manifest, seen).outcome, "PASS");
}

TEST(Judge, ReasonsSayWhatWasSeen) {
  Observation seen = Good();
  seen.outputs[0].comparison = Different();
  EXPECT_EQ(Judge(ThreeLaunches(), seen).reason,
            "output y: 2 of 4 elements differ, first at index 1: expected 0x01 (1), is 0x02 (2)");
  seen = Good();
  seen.launches[2].after = kFlushing;
  EXPECT_EQ(Judge(ThreeLaunches(), seen).reason,
            "the kernel changed the floating-point control state from 0x00001f80 FE_TONEAREST to 0x00009f80 "
            "FE_TONEAREST");
  seen = Good();
  seen.load->state = LoadState::kNoSymbol;
  seen.load_text = "not defined";
  EXPECT_EQ(Judge(ThreeLaunches(), seen).outcome, "NO_SYMBOL");
  EXPECT_EQ(Judge(ThreeLaunches(), seen).reason, "f: not defined");
}

}  // namespace
}  // namespace pyptox::runner
