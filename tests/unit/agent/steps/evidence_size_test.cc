#include "agent/steps/evidence_size.h"

#include <gtest/gtest.h>

#include "base/message_json.h"

namespace pyptox::agent {
namespace {

v1::Evidence Large(int cases, int opened, size_t reason) {
  v1::Evidence evidence;
  evidence.mutable_outcome()->set_verdict(v1::VERDICT_PASS);
  for (int i = 0; i < cases; ++i) {
    v1::CaseResult* result = evidence.add_cases();
    result->set_name("case-" + std::to_string(i));
    result->set_outcome(i == 0 ? v1::CASE_OUTCOME_MISMATCH : v1::CASE_OUTCOME_PASS);
    result->mutable_launch()->set_reason(std::string(reason, 'x'));
  }
  v1::StepResult* step = evidence.add_steps();
  for (int i = 0; i < opened; ++i) {
    v1::OpenedFile* file = step->add_opened();
    file->set_path("/usr/include/" + std::to_string(i));
    file->set_sha256(std::string(64, 'a'));
    file->set_outside(i == opened - 1);
  }
  return evidence;
}

TEST(EvidenceSizeTest, WhatFitsIsLeftAlone) {
  v1::Evidence evidence = Large(100, 500, 1000);
  const std::string before = evidence.SerializeAsString();
  FitEvidence(&evidence);
  EXPECT_EQ(evidence.SerializeAsString(), before);
}

TEST(EvidenceSizeTest, DetailsGoFirstAndAreNamed) {
  v1::Evidence evidence = Large(4096, 500, 1000);
  FitEvidence(&evidence);
  EXPECT_LE(MessageToCanonicalJson(evidence)->size(), kMaxEvidenceJsonBytes);
  EXPECT_EQ(evidence.cases_size(), 4096);
  EXPECT_TRUE(evidence.cases(0).has_launch()) << "what explains a failure stays";
  EXPECT_FALSE(evidence.cases(1).has_launch());
  EXPECT_EQ(evidence.not_covered_size(), 1);
  EXPECT_EQ(evidence.steps(0).opened_size(), 500);
}

TEST(EvidenceSizeTest, AnOutsideFileIsNeverLeftOut) {
  v1::Evidence evidence = Large(10, 40'000, 10);
  FitEvidence(&evidence);
  EXPECT_LE(MessageToCanonicalJson(evidence)->size(), kMaxEvidenceJsonBytes);
  ASSERT_EQ(evidence.steps(0).opened_size(), 1001);
  EXPECT_TRUE(evidence.steps(0).opened(1000).outside());
  EXPECT_EQ(evidence.not_covered(1), "38999 opened files are not listed: the record would be too large");
}

TEST(EvidenceSizeTest, WhatCanNotFitIsNoPass) {
  v1::Evidence evidence = Large(1, 1, 1);
  evidence.mutable_cases(0)->set_reason(std::string(5 << 20, 'x'));
  FitEvidence(&evidence);
  EXPECT_EQ(evidence.outcome().verdict(), v1::VERDICT_INFRA);
  EXPECT_EQ(evidence.outcome().kind(), "evidence");
  EXPECT_TRUE(evidence.cases().empty());
}

}  // namespace
}  // namespace pyptox::agent
