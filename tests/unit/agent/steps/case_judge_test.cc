#include "agent/steps/case_judge.h"

#include <gtest/gtest.h>

namespace pyptox::agent {
namespace {

v1::LaunchResult Launch(v1::CaseOutcome outcome, uint32_t launches = 3) {
  v1::LaunchResult launch;
  launch.set_outcome(outcome);
  launch.set_launches(launches);
  if (outcome != v1::CASE_OUTCOME_PASS) launch.set_reason("as the runner saw it");
  return launch;
}

CaseSight GoodSight() {
  CaseSight sight;
  sight.repeat = 3;
  sight.outputs = {{"out", "aa", "aa", ""}, {"state", "bb", "bb", ""}};
  return sight;
}

v1::CaseResult Judged(const v1::LaunchResult& launch, const CaseSight& sight) {
  v1::CaseResult result;
  JudgeCase(launch, sight, &result);
  return result;
}

TEST(CaseJudgeTest, APassNeedsBothLooks) {
  EXPECT_EQ(Judged(Launch(v1::CASE_OUTCOME_PASS), GoodSight()).outcome(), v1::CASE_OUTCOME_PASS);
  EXPECT_EQ(Judged(Launch(v1::CASE_OUTCOME_PASS), GoodSight()).reason(), "");
  CaseSight sight = GoodSight();
  sight.outputs[1].sha256 = "cc";
  EXPECT_EQ(Judged(Launch(v1::CASE_OUTCOME_PASS), sight).outcome(), v1::CASE_OUTCOME_INFRA);
  sight = GoodSight();
  sight.outputs[0].fault = "out.bin is missing";
  EXPECT_EQ(Judged(Launch(v1::CASE_OUTCOME_PASS), sight).outcome(), v1::CASE_OUTCOME_INFRA);
  for (const uint32_t launches : {0u, 1u, 2u, 4u}) {
    EXPECT_EQ(Judged(Launch(v1::CASE_OUTCOME_PASS, launches), GoodSight()).outcome(), v1::CASE_OUTCOME_INFRA);
  }
}

TEST(CaseJudgeTest, PinsAndSources) {
  CaseSight sight = GoodSight();
  sight.pin_fault = "g is not pinned";
  EXPECT_EQ(Judged(Launch(v1::CASE_OUTCOME_PASS), sight).outcome(), v1::CASE_OUTCOME_UNPINNED_GOLDEN);
  const v1::CaseResult mismatch = Judged(Launch(v1::CASE_OUTCOME_MISMATCH), sight);
  EXPECT_EQ(mismatch.outcome(), v1::CASE_OUTCOME_MISMATCH);
  EXPECT_EQ(mismatch.reason(), "as the runner saw it (and g is not pinned)");
  sight.source_fault = "g was changed by a step";
  EXPECT_EQ(Judged(Launch(v1::CASE_OUTCOME_PASS), sight).outcome(), v1::CASE_OUTCOME_BAD_FILE);
}

// Over every outcome there is: nothing but a runner's PASS becomes a PASS.
TEST(CaseJudgeTest, NothingElsePasses) {
  for (int number = v1::CaseOutcome_MIN; number <= v1::CaseOutcome_MAX + 1; ++number) {
    const auto outcome = static_cast<v1::CaseOutcome>(number);
    const v1::CaseOutcome judged = Judged(Launch(outcome), GoodSight()).outcome();
    if (outcome == v1::CASE_OUTCOME_PASS) continue;
    EXPECT_NE(judged, v1::CASE_OUTCOME_PASS) << number;
    EXPECT_NE(judged, v1::CASE_OUTCOME_SKIPPED) << number;
    EXPECT_NE(judged, v1::CASE_OUTCOME_UNSPECIFIED) << number;
  }
}

}  // namespace
}  // namespace pyptox::agent
