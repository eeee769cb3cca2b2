#include "matrix/store/reader.h"

#include <google/protobuf/util/message_differencer.h>

#include <random>

#include "matrix/standing.h"
#include "matrix/verdict.h"
#include "tests/unit/matrix/store/store_fixture.h"

namespace pyptox::store {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::ElementsAre;
using testing::HasSubstr;

template <typename Rows>
std::vector<uint64_t> Ids(const Rows& rows) {
  std::vector<uint64_t> ids;
  for (const auto& row : rows) ids.push_back(row.id());
  return ids;
}

TEST_F(StoreTest, ListsJobsNewestFirst) {
  Store::Transaction transaction = store_->Begin();
  for (uint64_t id = 1; id <= 120; ++id) {
    v1::Job job = MakeJob(id, id % 2 == 0 ? v1::JOB_STATE_DONE : v1::JOB_STATE_QUEUED);
    job.set_submission_id(id <= 3 ? 7 : 8);
    transaction.PutJob(job);
  }
  ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  v1::ListJobsRequest request;
  const auto all = reader_->ListJobs(request);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->jobs_size(), 100) << "the default limit";
  EXPECT_EQ(all->jobs(0).id(), 120u);
  request.set_submission_id(7);
  const auto some = reader_->ListJobs(request);
  ASSERT_TRUE(some.ok());
  EXPECT_THAT(Ids(some->jobs()), ElementsAre(3, 2, 1));
  request.set_active(true);
  request.set_limit(1);
  const auto one = reader_->ListJobs(request);
  ASSERT_TRUE(one.ok());
  EXPECT_THAT(Ids(one->jobs()), ElementsAre(3));
}

TEST_F(StoreTest, AJobHasItsAttemptsAndItsSpec) {
  Put(matrix::MakeRecord(4));
  const auto job = reader_->GetJob(4);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->job().record_id(), 1u);
  EXPECT_THAT(Ids(job->attempts()), ElementsAre(4));
  const auto spec = reader_->GetSpec(4);
  ASSERT_TRUE(spec.ok());
  EXPECT_TRUE(MessageDifferencer::Equals(*spec, MakeSpec()));
  for (const absl::Status& status :
       {reader_->GetJob(5).status(), reader_->GetSpec(5).status(), reader_->ListArtifacts(5).status()}) {
    EXPECT_EQ(status, absl::NotFoundError("there is no job 5"));
  }
  EXPECT_EQ(reader_->GetRecord(2).status(), absl::NotFoundError("there is no record 2"));
}

TEST_F(StoreTest, ListsRecordsInPages) {
  for (uint64_t i = 1; i <= 5; ++i) {
    Put(matrix::MakeRecord(i, "ops", i % 2 == 0 ? "x86-avx2@dev" : "cpu-scalar@dev"));
  }
  v1::ListRecordsRequest request;
  request.set_limit(2);
  auto page = reader_->ListRecords(request);
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(Ids(page->records()), ElementsAre(5, 4));
  request.set_before_id(4);
  page = reader_->ListRecords(request);
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(Ids(page->records()), ElementsAre(3, 2));
  request = {};
  request.set_lane("x86-avx2@dev");
  page = reader_->ListRecords(request);
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(Ids(page->records()), ElementsAre(4, 2));
  request = {};
  request.set_job_id(3);
  page = reader_->ListRecords(request);
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(Ids(page->records()), ElementsAre(3));
}

TEST_F(StoreTest, APageOfRecordsFitsOneMessage) {
  for (uint64_t i = 1; i <= 4; ++i) {
    v1::Record record = matrix::MakeRecord(i);
    record.mutable_outcome()->set_reason(std::string(1'300'000, 'r'));
    Put(std::move(record));
  }
  const auto page = reader_->ListRecords({});
  ASSERT_TRUE(page.ok());
  EXPECT_THAT(Ids(page->records()), ElementsAre(4, 3)) << "the caller goes on with before_id";
}

TEST_F(StoreTest, ArtifactsAreThoseOfTheRecord) {
  v1::Record record = matrix::MakeRecord(1);
  for (const char* name : {"b.so", "a.txt"}) {
    v1::FileEntry& file = *record.mutable_evidence()->add_artifacts();
    file.set_name(name);
    file.set_size(5);
    file.set_sha256(std::string(64, name[0]));
    file.set_executable(name[0] == 'b');
  }
  Put(std::move(record));
  const auto artifacts = reader_->ListArtifacts(1);
  ASSERT_TRUE(artifacts.ok());
  ASSERT_EQ(artifacts->artifacts_size(), 2);
  EXPECT_EQ(artifacts->artifacts(0).file().name(), "a.txt");
  EXPECT_EQ(artifacts->artifacts(1).file().size(), 5u);
  EXPECT_TRUE(artifacts->artifacts(1).file().executable());
}

TEST_F(StoreTest, ReachableIsWhatSpecsRecordsAndOrphansName) {
  v1::Record record = matrix::MakeRecord(1);
  record.mutable_evidence()->add_artifacts()->set_sha256(std::string(64, 'a'));
  Put(std::move(record));
  v1::AttemptFinished orphan;
  orphan.set_attempt_id(99);
  orphan.mutable_evidence()->add_artifacts()->set_sha256(std::string(64, 'b'));
  Store::Transaction transaction = store_->Begin();
  transaction.PutOrphan(orphan, "local", "late");
  ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  const auto digests = reader_->ReachableDigests();
  ASSERT_TRUE(digests.ok());
  std::vector<std::string> hex;
  for (const Digest& digest : *digests) hex.push_back(digest.Hex());
  EXPECT_THAT(hex, ElementsAre(std::string(64, '1'), std::string(64, 'a'), std::string(64, 'b')));
}

TEST_F(StoreTest, ServerInfoCounts) {
  auto info = reader_->GetServerInfo();
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->head_sha256(), matrix::kNoRecord);
  Put(matrix::MakeRecord(1));
  Store::Transaction transaction = store_->Begin();
  transaction.PutJob(MakeJob(2));
  transaction.PutJob(MakeJob(3, v1::JOB_STATE_RUNNING));
  transaction.PutJob(MakeJob(4, v1::JOB_STATE_CANCELLING));
  ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  info = reader_->GetServerInfo();
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->jobs_queued(), 1u);
  EXPECT_EQ(info->jobs_running(), 2u);
  EXPECT_EQ(info->records(), 1u);
  EXPECT_EQ(info->head_sha256(), chain_.checkpoint().head_sha256);
  EXPECT_EQ(info->database_id(), store_->database_id());
}

// The view's rule in SQL and the rule in C++ are one: random histories of a lane give the same cell after each record.
class MatrixViewTest : public StoreTest, public testing::WithParamInterface<unsigned> {};

TEST_P(MatrixViewTest, SaysWhatTheRuleSays) {
  std::mt19937 random(GetParam());
  const auto chance = [&](unsigned one_in) { return random() % one_in == 0; };
  {
    Store::Transaction transaction = store_->Begin();
    transaction.PutJob(MakeJob(1000));
    transaction.PutJobSpec(1000, MakeSpec());
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  }
  std::vector<v1::Record> history;
  for (uint64_t i = 1; i <= 40; ++i) {
    const auto matrix = reader_->ShowMatrix("ops");
    ASSERT_TRUE(matrix.ok()) << matrix.status();
    ASSERT_EQ(matrix->cells_size(), 1);
    const v1::Cell expected = matrix::CellOf("ops", MakeSpec().suite().lanes(0), history);
    ASSERT_TRUE(MessageDifferencer::Equals(matrix->cells(0), expected)) << "after record " << i - 1 << ":\n"
                                                                        << matrix->cells(0).DebugString() << "and not\n"
                                                                        << expected.DebugString();
    v1::Record record = matrix::MakeRecord(i);
    const auto verdict = static_cast<v1::Verdict>(1 + random() % (v1::Verdict_ARRAYSIZE - 1));
    const std::string kind = verdict == v1::VERDICT_TIMEOUT && chance(2) ? "queue" : "run";
    *record.mutable_outcome() = matrix::MakeOutcome(verdict, kind, "because of " + std::to_string(i));
    record.set_partial(chance(5));
    record.mutable_source()->set_dirty(chance(5));
    if (chance(4)) record.mutable_evidence()->add_not_covered("something");
    record.set_id(i);
    const v1::StoredRecord stored = chain_.Add(&record);
    Store::Transaction transaction = store_->Begin();
    transaction.PutRecord(record, stored);
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
    history.push_back(record);
  }
}

INSTANTIATE_TEST_SUITE_P(Histories, MatrixViewTest, testing::Range(0u, 12u));

TEST_F(StoreTest, AReaderNeedsADatabase) {
  EXPECT_THAT(Reader::Open(folder_ / "none.db").status().ToString(), HasSubstr("unable to open"));
}

}  // namespace
}  // namespace pyptox::store
