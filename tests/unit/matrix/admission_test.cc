#include "matrix/admission.h"

#include <gtest/gtest.h>

#include "tests/unit/matrix/record_fixture.h"

namespace pyptox::matrix {
namespace {

v1::Evidence MakeEvidence(v1::Verdict verdict, int passed, int failed = 0) {
  v1::Evidence evidence;
  *evidence.mutable_outcome() = MakeOutcome(verdict, "kind", "the agent's words");
  for (int i = 0; i < passed; ++i) *evidence.add_cases() = MakeCase("p", v1::CASE_OUTCOME_PASS);
  for (int i = 0; i < failed; ++i) *evidence.add_cases() = MakeCase("f", v1::CASE_OUTCOME_MISMATCH);
  return evidence;
}

TEST(Admission, ACleanRecordIsAdmitted) { EXPECT_EQ(NotAdmitted(MakeRecord(1)), ""); }

TEST(Admission, EachReasonInItsOrder) {
  v1::Record record = MakeRecord(1);
  v1::StepResult& step = *record.mutable_evidence()->add_steps();
  v1::OpenedFile& inside = *step.add_opened();
  inside.set_path("src/kernel.c");
  v1::OpenedFile& outside = *step.add_opened();
  outside.set_path("/old/tree/kernel.c");
  outside.set_outside(true);
  EXPECT_EQ(NotAdmitted(record), "opened a file outside the declared tree: /old/tree/kernel.c");
  record.mutable_source()->set_dirty(true);
  EXPECT_EQ(NotAdmitted(record), "dirty tree");
  record.mutable_source()->clear_head();
  EXPECT_EQ(NotAdmitted(record), "no repository");
  record.set_partial(true);
  EXPECT_EQ(NotAdmitted(record), "partial");
}

TEST(Admission, PlannedCasesOfKernelsAndPrograms) {
  v1::Suite suite;
  suite.set_planned(77);
  v1::Lane lane;
  lane.mutable_kernel()->set_module("build/k.so");
  EXPECT_EQ(PlannedCases(suite, lane), 77u);
  lane.clear_kernel();
  lane.mutable_run()->mutable_report()->set_planned(12);
  EXPECT_EQ(PlannedCases(suite, lane), 12u);
  lane.mutable_run()->add_compare();
  EXPECT_EQ(PlannedCases(suite, lane), 13u);
}

TEST(Admission, APassThatDoesNotAddUpIsLowered) {
  EXPECT_EQ(AdmittedOutcome(MakeEvidence(v1::VERDICT_PASS, 2), 2).verdict(), v1::VERDICT_PASS);
  EXPECT_EQ(AdmittedOutcome(MakeEvidence(v1::VERDICT_PASS, 1), 2).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(AdmittedOutcome(MakeEvidence(v1::VERDICT_PASS, 3), 2).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(AdmittedOutcome(MakeEvidence(v1::VERDICT_PASS, 0), 0).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(AdmittedOutcome(MakeEvidence(v1::VERDICT_PASS, 1, 1), 2).verdict(), v1::VERDICT_FAIL);
}

TEST(Admission, NeverRaisesAnOutcome) {
  for (int verdict = v1::Verdict_MIN; verdict <= v1::Verdict_MAX; ++verdict) {
    if (verdict == v1::VERDICT_PASS) continue;
    // Cases that would add up to a PASS by themselves.
    const v1::Outcome admitted = AdmittedOutcome(MakeEvidence(static_cast<v1::Verdict>(verdict), 2), 2);
    EXPECT_NE(admitted.verdict(), v1::VERDICT_PASS) << verdict;
    if (verdict != v1::VERDICT_UNSPECIFIED && verdict != v1::VERDICT_LOST) {
      EXPECT_EQ(admitted.verdict(), verdict);
      EXPECT_EQ(admitted.reason(), "the agent's words");
    } else {
      EXPECT_EQ(admitted.verdict(), v1::VERDICT_INFRA);
      EXPECT_EQ(admitted.kind(), "outcome");
    }
  }
}

}  // namespace
}  // namespace pyptox::matrix
