#include "reports/tables.h"

#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace pyptox::reports {
namespace {

using ::testing::ElementsAre;

template <typename Message>
Message Parse(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  return message;
}

TEST(TablesTest, Matrix) {
  const auto response = Parse<v1::ShowMatrixResponse>(R"pb(
    cells {
      suite: "ops"
      lane: "cpu-scalar@dev"
      standing: "PASS"
      evidence_class: EVIDENCE_CLASS_VIRTUALIZED
      counts { planned: 77 passed: 77 }
      head: "0123456789abcdef0123456789abcdef01234567"
      record_id: 5
    }
    cells {
      suite: "ops"
      lane: "sve@qemu"
      standing: "PASS (limited)"
      evidence_class: EVIDENCE_CLASS_EMULATED
      counts { planned: 77 passed: 70 skipped: 7 }
      record_id: 6
      reason: "7 skipped"
    }
    cells {
      suite: "ops"
      lane: "avx512@dev"
      standing: "NEVER_RUN"
      counts { planned: 77 }
    })pb");
  const Table table = MatrixTable(response);
  EXPECT_THAT(table.columns, ElementsAre("SUITE", "LANE", "STANDING", "EVIDENCE", "PASSED/SKIPPED/PLANNED", "HEAD",
                                         "RECORD", "REASON"));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(table.rows[0],
              ElementsAre("ops", "cpu-scalar@dev", "PASS", "virtualized", "77/0/77", "0123456789ab", "5", ""));
  EXPECT_THAT(table.rows[1],
              ElementsAre("ops", "sve@qemu", "PASS (limited)", "emulated", "70/7/77", "", "6", "7 skipped"));
  EXPECT_THAT(table.rows[2], ElementsAre("ops", "avx512@dev", "NEVER_RUN", "", "0/0/77", "", "", ""));
  EXPECT_EQ(MatrixSummary(response), "2 of 3 lanes and 147 of 231 cases are bit-exact");
}

TEST(TablesTest, AStaleCellIsNotBitExact) {
  const auto response = Parse<v1::ShowMatrixResponse>(R"pb(cells {
                                                             standing: "STALE(suite)"
                                                             counts { planned: 2 passed: 2 }
                                                           })pb");
  EXPECT_EQ(MatrixSummary(response), "0 of 1 lanes and 0 of 2 cases are bit-exact");
}

TEST(TablesTest, Jobs) {
  const auto response = Parse<v1::ListJobsResponse>(R"(
    jobs { id: 3 suite: "ops" lane: "l" state: JOB_STATE_DONE attempts: 2 priority: -5 record_id: 9
           outcome { verdict: VERDICT_TIMEOUT kind: "silence" reason: "run: no output for 1 s" }
           submitted_at_ns: 1800000000000000000 }
    jobs { id: 4 suite: "ops" lane: "l" state: JOB_STATE_RUNNING attempts: 1
           progress { step: "kernel add" cases_done: 17 cases_total: 77 } }
    jobs { id: 5 suite: "ops" lane: "l" state: JOB_STATE_QUEUED })");
  const Table table = JobsTable(response);
  EXPECT_THAT(table.rows[0], ElementsAre("3", "ops", "l", "DONE", "TIMEOUT(silence)", "2", "-5", "9",
                                         "2027-01-15T08:00:00Z", "run: no output for 1 s"));
  EXPECT_THAT(table.rows[1],
              ElementsAre("4", "ops", "l", "RUNNING", "-", "1", "0", "-", "", "kernel add (17/77 cases)"));
  EXPECT_THAT(table.rows[2], ElementsAre("5", "ops", "l", "QUEUED", "-", "0", "0", "-", "", ""));
}

TEST(TablesTest, Attempts) {
  const auto response = Parse<v1::GetJobResponse>(R"(
    attempts { id: 7 number: 2 agent: "dev" resource: "qemu" state: ATTEMPT_STATE_ENDED
               outcome { verdict: VERDICT_LOST reason: "gone" }
               locks { key: "resource/qemu" token: 12 } locks { key: "x" token: 3 } })");
  EXPECT_THAT(AttemptsTable(response).rows[0],
              ElementsAre("7", "2", "dev", "qemu", "ENDED", "LOST", "resource/qemu#12 x#3", "", "", "gone"));
}

TEST(TablesTest, Records) {
  const auto record = Parse<v1::Record>(R"(
    id: 5 suite: "ops" lane: "l" job_id: 3 outcome { verdict: VERDICT_FAIL kind: "cases" reason: "1 of 2" }
    counts { planned: 2 passed: 1 failed: 1 } not_admitted: "dirty tree"
    evidence {
      evidence_class: EVIDENCE_CLASS_NATIVE
      cases { name: "a" outcome: CASE_OUTCOME_PASS } cases { name: "s" outcome: CASE_OUTCOME_SKIPPED reason: "no" }
      cases { name: "b" outcome: CASE_OUTCOME_MISMATCH reason: "c[3]: 0x40000000 and 0x40000001" } })");
  EXPECT_THAT(RecordsTable({record}).rows[0],
              ElementsAre("5", "ops", "l", "FAIL", "native", "1/0/2", "", "3", "", "dirty tree", "1 of 2"));
  const Table trouble = TroubleTable({record, record});
  ASSERT_EQ(trouble.rows.size(), 2u) << "passed and skipped cases are no trouble";
  EXPECT_THAT(trouble.rows[0], ElementsAre("3", "l", "b", "MISMATCH", "c[3]: 0x40000000 and 0x40000001"));
}

TEST(TablesTest, ResourcesAgentsLocksArtifacts) {
  const auto resources = Parse<v1::ListResourcesResponse>(R"(
    resources { name: "dev" backend: "cpu" agent: "a" state: RESOURCE_STATE_BUSY holder_job_id: 4
                health: RESOURCE_HEALTH_ANSWERS
                facts { key: "kernel" value: "6.1" observer: "agent:a" method: "uname" } }
    resources { name: "qemu" state: RESOURCE_STATE_OFFLINE health: RESOURCE_HEALTH_SILENT
                reason: "agent away" })");
  EXPECT_THAT(ResourcesTable(resources).rows[0], ElementsAre("dev", "cpu", "a", "BUSY", "ANSWERS", "job 4", ""));
  EXPECT_THAT(ResourcesTable(resources).rows[1], ElementsAre("qemu", "", "", "OFFLINE", "SILENT", "", "agent away"));
  const auto orders = Parse<v1::ListResourceOrdersResponse>(R"(
    orders { id: 3 resource: "a2" state: RESOURCE_STATE_PAUSED reason: "billed" until: "Monday" person: "ann"
             at_ns: 1757750400000000000 })");
  EXPECT_THAT(ResourceOrdersTable(orders).rows[0],
              ElementsAre("3", "a2", "PAUSED", "ann", "2025-09-13T08:00:00Z", "Monday", "billed"));
  EXPECT_THAT(FactsTable(resources.resources(0)).rows[0], ElementsAre("kernel", "agent:a", "uname", "", "6.1"));
  const auto agents = Parse<v1::ListAgentsResponse>(
      R"(agents { name: "a" connected: true epoch: 2 version: "0.1.0" clock_offset_ns: -28800000000000 })");
  EXPECT_THAT(AgentsTable(agents).rows[0], ElementsAre("a", "yes", "2", "0.1.0", "-28800000", ""));
  const auto locks = Parse<v1::ListLocksResponse>(
      R"(leases { key: "resource/dev" mode: LOCK_MODE_EXCLUSIVE units: 1 attempt_id: 7 token: 9 })");
  EXPECT_THAT(LocksTable(locks).rows[0], ElementsAre("resource/dev", "EXCLUSIVE", "1", "7", "9", ""));
  const auto artifacts = Parse<v1::ListArtifactsResponse>(
      R"(artifacts { attempt_id: 7 file { name: "build/k.so" size: 12 sha256: "ab" } })");
  EXPECT_THAT(ArtifactsTable(artifacts).rows[0], ElementsAre("7", "build/k.so", "12", "ab"));
}

TEST(TablesTest, Query) {
  const auto response = Parse<v1::QueryResponse>(R"(
    columns: "a" columns: "a" columns: "b" columns: "c" columns: "d"
    rows { values { integer: -3 } values { real: 0.5 } values { text: "x" } values { blob: "abc" } values {} })");
  const Table table = QueryTable(response);
  EXPECT_THAT(table.columns, ElementsAre("a", "a", "b", "c", "d"));
  EXPECT_THAT(table.rows[0], ElementsAre("-3", "0.5", "x",
                                         "blob of 3 bytes, SHA-256 "
                                         "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                                         ""));
}

TEST(TablesTest, IsoTime) {
  EXPECT_EQ(IsoTime(0), "");
  EXPECT_EQ(IsoTime(951'782'400'000'000'000), "2000-02-29T00:00:00Z");
  EXPECT_EQ(IsoTime(-1'000'000'000), "1969-12-31T23:59:59Z");
}

}  // namespace
}  // namespace pyptox::reports
