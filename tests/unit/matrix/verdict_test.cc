#include "matrix/verdict.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/matrix/record_fixture.h"

namespace pyptox::matrix {
namespace {

CaseResults Cases(std::initializer_list<v1::CaseOutcome> outcomes) {
  CaseResults cases;
  int number = 0;
  for (const v1::CaseOutcome outcome : outcomes) {
    *cases.Add() = MakeCase("c" + std::to_string(++number), outcome, "because");
  }
  return cases;
}

std::vector<v1::CaseOutcome> AllOutcomes() {
  std::vector<v1::CaseOutcome> all;
  for (int i = v1::CaseOutcome_MIN; i <= v1::CaseOutcome_MAX; ++i) {
    if (v1::CaseOutcome_IsValid(i)) all.push_back(static_cast<v1::CaseOutcome>(i));
  }
  return all;
}

TEST(Verdict, EveryCaseOutcomeHasItsVerdict) {
  for (const v1::CaseOutcome outcome : AllOutcomes()) {
    v1::Verdict expected = v1::VERDICT_FAIL;
    if (outcome == v1::CASE_OUTCOME_PASS) expected = v1::VERDICT_PASS;
    if (outcome == v1::CASE_OUTCOME_BLOCKED_DEVICE) expected = v1::VERDICT_BLOCKED_DEVICE;
    if (outcome == v1::CASE_OUTCOME_SKIPPED) expected = v1::VERDICT_NO_VERDICT;
    if (outcome == v1::CASE_OUTCOME_INFRA || outcome == v1::CASE_OUTCOME_UNSPECIFIED) expected = v1::VERDICT_INFRA;
    EXPECT_EQ(OutcomeOfCases(Cases({outcome}), 1).verdict(), expected) << CaseOutcomeWord(outcome);
    EXPECT_EQ(IsFailure(outcome), expected == v1::VERDICT_FAIL) << CaseOutcomeWord(outcome);
  }
}

TEST(Verdict, OneBadCaseAmongGoodOnesDecides) {
  for (const v1::CaseOutcome outcome : AllOutcomes()) {
    const v1::Outcome verdict = OutcomeOfCases(Cases({v1::CASE_OUTCOME_PASS, outcome, v1::CASE_OUTCOME_PASS}), 3);
    const bool good = outcome == v1::CASE_OUTCOME_PASS || outcome == v1::CASE_OUTCOME_SKIPPED;
    EXPECT_EQ(verdict.verdict() == v1::VERDICT_PASS, good) << CaseOutcomeWord(outcome);
  }
}

TEST(Verdict, TheWorstCaseDecides) {
  const auto verdict = [](std::initializer_list<v1::CaseOutcome> outcomes) {
    return OutcomeOfCases(Cases(outcomes), static_cast<uint32_t>(outcomes.size())).verdict();
  };
  EXPECT_EQ(verdict({v1::CASE_OUTCOME_BLOCKED_DEVICE, v1::CASE_OUTCOME_INFRA, v1::CASE_OUTCOME_CRASH}),
            v1::VERDICT_FAIL);
  EXPECT_EQ(verdict({v1::CASE_OUTCOME_BLOCKED_DEVICE, v1::CASE_OUTCOME_INFRA}), v1::VERDICT_INFRA);
  EXPECT_EQ(verdict({v1::CASE_OUTCOME_PASS, v1::CASE_OUTCOME_BLOCKED_DEVICE}), v1::VERDICT_BLOCKED_DEVICE);
}

TEST(Verdict, NamesTheFirstFailureAndHowMany) {
  const v1::Outcome outcome =
      OutcomeOfCases(Cases({v1::CASE_OUTCOME_PASS, v1::CASE_OUTCOME_MISMATCH, v1::CASE_OUTCOME_CRASH}), 3);
  EXPECT_EQ(outcome.kind(), "cases");
  EXPECT_EQ(outcome.reason(), "2 of 3 cases failed, first c2: because");
}

TEST(Verdict, ZeroFewerMoreOrOnlySkippedCasesAreNoPass) {
  EXPECT_EQ(OutcomeOfCases(Cases({}), 0).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(OutcomeOfCases(Cases({}), 2).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(OutcomeOfCases(Cases({v1::CASE_OUTCOME_PASS}), 2).reason(), "1 cases ran, planned are 2");
  EXPECT_EQ(OutcomeOfCases(Cases({v1::CASE_OUTCOME_PASS, v1::CASE_OUTCOME_PASS}), 1).verdict(), v1::VERDICT_NO_VERDICT);
  EXPECT_EQ(OutcomeOfCases(Cases({v1::CASE_OUTCOME_SKIPPED}), 1).kind(), "planned");
}

TEST(Verdict, CountsAddUp) {
  const v1::CaseCounts counts = CountCases(
      Cases({v1::CASE_OUTCOME_PASS, v1::CASE_OUTCOME_MISMATCH, v1::CASE_OUTCOME_SKIPPED, v1::CASE_OUTCOME_SKIPPED,
             v1::CASE_OUTCOME_BLOCKED_DEVICE, v1::CASE_OUTCOME_INFRA, v1::CASE_OUTCOME_INFRA}),
      9);
  EXPECT_EQ(counts.planned(), 9u);
  EXPECT_EQ(counts.passed(), 1u);
  EXPECT_EQ(counts.failed(), 1u);
  EXPECT_EQ(counts.skipped(), 2u);
  EXPECT_EQ(counts.other(), 3u);
}

TEST(Verdict, WordsExitCodesAndRetries) {
  struct Row {
    v1::Verdict verdict;
    const char* kind;
    const char* word;
    ExitCode code;
    bool retryable;
  };
  const Row rows[] = {{v1::VERDICT_PASS, "", "PASS", kExitPass, false},
                      {v1::VERDICT_FAIL, "compile", "FAIL", kExitVerdictFail, false},
                      {v1::VERDICT_BLOCKED_TOOLCHAIN, "absent", "BLOCKED_TOOLCHAIN", kExitBlocked, false},
                      {v1::VERDICT_BLOCKED_DEVICE, "cpu_feature", "BLOCKED_DEVICE", kExitBlocked, false},
                      {v1::VERDICT_NO_VERDICT, "planned", "NO_VERDICT", kExitVerdictFail, false},
                      {v1::VERDICT_INFRA, "disk_full", "INFRA(disk_full)", kExitInternal, true},
                      {v1::VERDICT_TIMEOUT, "queue", "TIMEOUT(queue)", kExitBusy, false},
                      {v1::VERDICT_TIMEOUT, "silence", "TIMEOUT(silence)", kExitVerdictFail, false},
                      {v1::VERDICT_CANCELLED, "", "CANCELLED", kExitVerdictFail, false},
                      {v1::VERDICT_LOST, "", "LOST", kExitInternal, true}};
  std::set<v1::Verdict> seen;
  for (const Row& row : rows) {
    const v1::Outcome outcome = MakeOutcome(row.verdict, row.kind, "");
    EXPECT_EQ(OutcomeWord(outcome), row.word);
    EXPECT_EQ(ExitCodeOf(outcome), row.code) << row.word;
    EXPECT_EQ(IsRetryable(outcome), row.retryable) << row.word;
    seen.insert(row.verdict);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(v1::Verdict_MAX)) << "a verdict has no row here";
  EXPECT_EQ(ExitCodeOf({}), kExitInternal);
}

TEST(Verdict, EvidenceClassesAreWords) {
  EXPECT_EQ(EvidenceClassWord(v1::EVIDENCE_CLASS_UNSPECIFIED), "");
  EXPECT_EQ(EvidenceClassWord(v1::EVIDENCE_CLASS_NATIVE), "native");
  EXPECT_EQ(EvidenceClassWord(v1::EVIDENCE_CLASS_VIRTUALIZED), "virtualized");
  EXPECT_EQ(EvidenceClassWord(v1::EVIDENCE_CLASS_EMULATED), "emulated");
  EXPECT_EQ(EvidenceClassWord(v1::EVIDENCE_CLASS_SIMULATED), "simulated");
  EXPECT_EQ(EvidenceClassWord(v1::EVIDENCE_CLASS_STATIC), "static");
}

}  // namespace
}  // namespace pyptox::matrix
