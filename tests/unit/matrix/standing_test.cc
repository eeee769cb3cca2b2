#include "matrix/standing.h"

#include <gtest/gtest.h>

#include "tests/unit/matrix/record_fixture.h"

namespace pyptox::matrix {
namespace {

v1::Lane MakeLane() {
  v1::Lane lane;
  lane.set_name("cpu-scalar@dev");
  lane.set_target("cpu-scalar");
  lane.mutable_resource()->set_name("dev");
  return lane;
}

// The lane's records, in order.
class Records {
 public:
  v1::Record& Add(v1::Verdict verdict, const std::string& kind = "", const std::string& reason = "") {
    v1::Record record = MakeRecord(records_.size() + 1);
    record.set_id(records_.size() + 1);
    *record.mutable_outcome() = MakeOutcome(verdict, kind, reason);
    record.mutable_counts()->set_planned(2);
    record.mutable_counts()->set_passed(verdict == v1::VERDICT_PASS ? 2 : 0);
    record.mutable_source()->set_head("head" + std::to_string(record.id()));
    return records_.emplace_back(std::move(record));
  }
  v1::Cell Cell() const { return CellOf("ops", MakeLane(), records_); }
  std::string Says() const { return Cell().standing() + ": " + Cell().reason(); }

 private:
  std::vector<v1::Record> records_;
};

TEST(Standing, ACellExistsBeforeItsFirstRecord) {
  const v1::Cell cell = Records().Cell();
  EXPECT_EQ(cell.suite(), "ops");
  EXPECT_EQ(cell.lane(), "cpu-scalar@dev");
  EXPECT_EQ(cell.target(), "cpu-scalar");
  EXPECT_EQ(cell.resource(), "dev");
  EXPECT_EQ(cell.standing(), "NEVER_RUN");
  EXPECT_EQ(cell.reason(), "");
  EXPECT_EQ(cell.record_id(), 0u);
  EXPECT_EQ(cell.evidence_class(), v1::EVIDENCE_CLASS_UNSPECIFIED);
}

TEST(Standing, TheNewestVerdictDecides) {
  Records records;
  records.Add(v1::VERDICT_PASS);
  EXPECT_EQ(records.Says(), "PASS: ");
  records.Add(v1::VERDICT_FAIL, "cases", "1 of 2 cases failed");
  EXPECT_EQ(records.Says(), "FAIL: 1 of 2 cases failed");
  records.Add(v1::VERDICT_BLOCKED_TOOLCHAIN, "absent", "gcc is not there");
  EXPECT_EQ(records.Says(), "BLOCKED(toolchain): gcc is not there");
  records.Add(v1::VERDICT_BLOCKED_DEVICE, "cpu_feature", "no avx512f");
  EXPECT_EQ(records.Says(), "BLOCKED(device): no avx512f");
  v1::Record& limited = records.Add(v1::VERDICT_PASS);
  limited.mutable_evidence()->add_not_covered("mul was skipped");
  EXPECT_EQ(records.Says(), "PASS (limited): mul was skipped");
  limited.mutable_evidence()->add_not_covered("files were not observed");
  EXPECT_EQ(records.Says(), "PASS (limited): mul was skipped (and 1 more)");
  const v1::Cell cell = records.Cell();
  EXPECT_EQ(cell.record_id(), 5u);
  EXPECT_EQ(cell.head(), "head5");
  EXPECT_EQ(cell.counts().passed(), 2u);
  EXPECT_EQ(cell.evidence_class(), v1::EVIDENCE_CLASS_VIRTUALIZED);
  EXPECT_EQ(cell.recorded_at_ns(), 1'800'000'005'000'000'000);
}

TEST(Standing, WhatIsNotAdmittedChangesNothing) {
  Records records;
  records.Add(v1::VERDICT_PASS).set_not_admitted("dirty tree");
  EXPECT_EQ(records.Says(), "NEVER_RUN: record 1 is not admitted: dirty tree");
  EXPECT_EQ(records.Cell().record_id(), 0u);
  records.Add(v1::VERDICT_PASS);
  EXPECT_EQ(records.Says(), "PASS: ");
  records.Add(v1::VERDICT_FAIL, "cases", "all").set_not_admitted("dirty tree");
  EXPECT_EQ(records.Says(), "PASS: record 3 is not admitted: dirty tree");
  EXPECT_EQ(records.Cell().record_id(), 2u);
}

TEST(Standing, PartialRecordsAreNotLookedAt) {
  Records records;
  v1::Record& partial = records.Add(v1::VERDICT_FAIL);
  partial.set_partial(true);
  partial.set_not_admitted("partial");
  EXPECT_EQ(records.Says(), "NEVER_RUN: ");
}

TEST(Standing, APassGoesStaleWhenANewerRunProvedNothing) {
  const struct {
    v1::Verdict verdict;
    const char* kind;
    const char* says;
  } rows[] = {
      {v1::VERDICT_NO_VERDICT, "planned", "STALE(NO_VERDICT): record 2 came to no verdict: NO_VERDICT"},
      {v1::VERDICT_TIMEOUT, "run", "STALE(TIMEOUT): record 2 came to no verdict: TIMEOUT(run)"},
      {v1::VERDICT_TIMEOUT, "silence", "STALE(TIMEOUT): record 2 came to no verdict: TIMEOUT(silence)"},
      {v1::VERDICT_TIMEOUT, "queue", "PASS: record 2 came to no verdict: TIMEOUT(queue)"},
      {v1::VERDICT_INFRA, "report", "PASS: record 2 came to no verdict: INFRA(report)"},
      {v1::VERDICT_LOST, "", "PASS: record 2 came to no verdict: LOST"},
      {v1::VERDICT_CANCELLED, "", "PASS: record 2 came to no verdict: CANCELLED"},
  };
  for (const auto& row : rows) {
    Records records;
    records.Add(v1::VERDICT_PASS);
    records.Add(row.verdict, row.kind);
    EXPECT_EQ(records.Says(), row.says);
    EXPECT_EQ(records.Cell().record_id(), 1u) << "the cell still shows what it rests on";
    // It stays so, whatever comes after that is no verdict either, and ends with the next one.
    records.Add(v1::VERDICT_INFRA, "disk_full");
    EXPECT_EQ(records.Cell().standing(), std::string(row.says).substr(0, std::string(row.says).find(": ")));
    records.Add(v1::VERDICT_PASS);
    EXPECT_EQ(records.Says(), "PASS: ");
  }
}

TEST(Standing, AFailStandsUntilANewVerdict) {
  Records records;
  records.Add(v1::VERDICT_FAIL, "cases", "1 of 2 cases failed");
  records.Add(v1::VERDICT_TIMEOUT, "run");
  EXPECT_EQ(records.Says(), "FAIL: record 2 came to no verdict: TIMEOUT(run)");
}

TEST(Standing, ARunWithoutAnyVerdictIsNoRun) {
  Records records;
  records.Add(v1::VERDICT_NO_VERDICT, "planned");
  EXPECT_EQ(records.Says(), "NEVER_RUN: record 1 came to no verdict: NO_VERDICT");
}

}  // namespace
}  // namespace pyptox::matrix
