#include "matrix/store/store.h"

#include <google/protobuf/util/message_differencer.h>

#include "tests/unit/matrix/store/store_fixture.h"

namespace pyptox::store {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(StoreTest, ANewDatabaseIsEmptyAndHasAnId) {
  EXPECT_EQ(store_->database_id().size(), 32u);
  absl::StatusOr<Snapshot> snapshot = store_->LoadSnapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_THAT(snapshot->jobs, IsEmpty());
  EXPECT_EQ(snapshot->record_count, 0u);
  EXPECT_EQ(snapshot->record_head_sha256, matrix::kNoRecord);
  const std::string id = store_->database_id();
  Reopen();
  EXPECT_EQ(store_->database_id(), id);
}

TEST_F(StoreTest, WhatWasCommittedIsThereAfterARestart) {
  v1::Lease lease;
  lease.set_key("resource/dev");
  lease.set_mode(v1::LOCK_MODE_EXCLUSIVE);
  lease.set_units(1);
  lease.set_attempt_id(7);
  lease.set_token(42);
  v1::Agent agent;
  agent.set_name("local");
  {
    Store::Transaction transaction = store_->Begin();
    transaction.PutCounter("job", 3);
    transaction.PutJob(MakeJob(3, v1::JOB_STATE_RUNNING));
    transaction.PutJobSpec(3, MakeSpec());
    transaction.PutAttempt(MakeAttempt(7, 3));
    transaction.PutLease(lease);
    transaction.PutToken("resource/dev", 42);
    transaction.PutAgent(agent);
    transaction.PutResource(MakeResource("dev", {{"kernel", "6.1"}}, 5));
    transaction.PutIdempotency("key", 1);
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  }
  Reopen();
  absl::StatusOr<Snapshot> snapshot = store_->LoadSnapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ(snapshot->counters, (std::map<std::string, uint64_t>{{"job", 3}}));
  ASSERT_EQ(snapshot->jobs.size(), 1u);
  EXPECT_TRUE(MessageDifferencer::Equals(snapshot->jobs[0], MakeJob(3, v1::JOB_STATE_RUNNING)));
  ASSERT_EQ(snapshot->specs.size(), 1u);
  EXPECT_TRUE(MessageDifferencer::Equals(snapshot->specs.at(3), MakeSpec()));
  ASSERT_EQ(snapshot->attempts.size(), 1u);
  EXPECT_TRUE(MessageDifferencer::Equals(snapshot->attempts[0], MakeAttempt(7, 3)));
  ASSERT_EQ(snapshot->leases.size(), 1u);
  EXPECT_TRUE(MessageDifferencer::Equals(snapshot->leases[0], lease));
  ASSERT_EQ(snapshot->tokens.size(), 1u);
  EXPECT_EQ(snapshot->tokens[0].token(), 42u);
  ASSERT_EQ(snapshot->agents.size(), 1u);
  ASSERT_EQ(snapshot->resources.size(), 1u);
  EXPECT_EQ(snapshot->idempotency.at("key"), 1u);
}

TEST_F(StoreTest, SpecsOfJobsThatAreDoneAreNotLoaded) {
  Put(matrix::MakeRecord(1));
  absl::StatusOr<Snapshot> snapshot = store_->LoadSnapshot();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_THAT(snapshot->specs, IsEmpty());
  EXPECT_EQ(snapshot->record_count, 1u);
  EXPECT_EQ(snapshot->record_head_sha256, chain_.checkpoint().head_sha256);
  ASSERT_EQ(snapshot->results.size(), 1u);
  EXPECT_EQ(snapshot->results[0].lane, "cpu-scalar@dev");
  EXPECT_EQ(snapshot->results[0].verdict, v1::VERDICT_PASS);
}

TEST_F(StoreTest, WhatIsNotCommittedLeavesNothing) {
  store_->Begin().PutJob(MakeJob(1));
  EXPECT_THAT(Rows("SELECT * FROM jobs"), IsEmpty());
  Store::Transaction next = store_->Begin();
  next.PutJob(MakeJob(2));
  EXPECT_EQ(next.Commit(), absl::OkStatus());
  EXPECT_THAT(Rows("SELECT job_id FROM jobs"), ElementsAre("2"));
}

// The first failure may have ended the transaction: what comes after it must not commit by itself.
TEST_F(StoreTest, AfterAnErrorNothingMoreIsWritten) {
  {
    Store::Transaction transaction = store_->Begin();
    transaction.PutJob(MakeJob(1));
    v1::Record record = matrix::MakeRecord(1);
    matrix::Chain other;
    v1::StoredRecord stored = other.Add(&record);
    stored.set_sha256(std::string(64, 'f'));
    transaction.PutRecord(record, stored);
    transaction.PutJob(MakeJob(2));
    transaction.PutCounter("job", 2);
    EXPECT_EQ(transaction.Commit().code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_THAT(Rows("SELECT job_id FROM jobs"), IsEmpty());
  EXPECT_THAT(Rows("SELECT name FROM t_counter"), IsEmpty());
  // What the controller believes and what the disk holds may differ now.
  EXPECT_EQ(store_->failure().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->LoadSnapshot().status(), store_->failure());
  Store::Transaction later = store_->Begin();
  later.PutJob(MakeJob(3));
  EXPECT_EQ(later.Commit(), store_->failure());
  EXPECT_THAT(Rows("SELECT job_id FROM jobs"), IsEmpty());
}

TEST_F(StoreTest, ATransactionThatCouldNotBeginWritesNothing) {
  Store::Transaction first = store_->Begin();
  first.PutJob(MakeJob(1));
  {
    Store::Transaction second = store_->Begin();
    second.PutJob(MakeJob(2));
    EXPECT_THAT(second.Commit().ToString(), HasSubstr("within a transaction"));
  }
  EXPECT_FALSE(first.Commit().ok());
  EXPECT_THAT(Rows("SELECT job_id FROM jobs"), IsEmpty());
}

TEST_F(StoreTest, ATokenNeverGoesDown) {
  for (const uint64_t token : {5, 3, 9, 8}) {
    Store::Transaction transaction = store_->Begin();
    transaction.PutToken("resource/dev", token);
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  }
  EXPECT_THAT(Rows("SELECT token FROM t_token"), ElementsAre("9"));
}

TEST_F(StoreTest, LeasesOfAnAttemptGoTogether) {
  Store::Transaction transaction = store_->Begin();
  transaction.PutJob(MakeJob(1));
  for (const uint64_t attempt : {1, 2}) {
    transaction.PutAttempt(MakeAttempt(attempt, 1));
    for (const char* key : {"resource/dev", "lock/local"}) {
      v1::Lease lease;
      lease.set_key(key);
      lease.set_attempt_id(attempt);
      lease.set_mode(v1::LOCK_MODE_SHARED);
      transaction.PutLease(lease);
    }
  }
  transaction.DeleteLeases(1);
  ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  EXPECT_THAT(Rows("SELECT key, attempt_id FROM locks ORDER BY key"), ElementsAre("lock/local|2", "resource/dev|2"));
}

TEST_F(StoreTest, ALeaseNeedsItsAttempt) {
  Store::Transaction transaction = store_->Begin();
  v1::Lease lease;
  lease.set_key("resource/dev");
  lease.set_attempt_id(9);
  transaction.PutLease(lease);
  EXPECT_THAT(transaction.Commit().ToString(), HasSubstr("FOREIGN KEY"));
}

TEST_F(StoreTest, RecordsJoinTheChainInOrderAndOnce) {
  const v1::StoredRecord first = Put(matrix::MakeRecord(1));
  const auto refuses = [&](v1::Record record, const v1::StoredRecord& stored, const std::string& why) {
    Reopen();
    Store::Transaction transaction = store_->Begin();
    transaction.PutRecord(record, stored);
    EXPECT_THAT(transaction.Commit().ToString(), HasSubstr(why));
  };
  v1::Record again = matrix::MakeRecord(1);
  matrix::Chain fresh;
  const v1::StoredRecord again_stored = fresh.Add(&again);
  refuses(again, again_stored, "record 1 after 0000");  // its place is taken
  v1::Record skipping = matrix::MakeRecord(3);
  refuses(skipping, matrix::SealRecord(3, first.sha256(), 2, &skipping), "is not the next of the chain: 2 after");
  v1::Record unlinked = matrix::MakeRecord(2);
  refuses(unlinked, matrix::SealRecord(2, std::string(64, 'e'), 2, &unlinked), "is not the next of the chain");
  v1::Record altered = matrix::MakeRecord(2);
  v1::StoredRecord altered_stored = matrix::SealRecord(2, first.sha256(), 2, &altered);
  altered_stored.mutable_json()->append(" ");
  refuses(altered, altered_stored, "record 2 does not have its digest");
  v1::Record same_job = matrix::MakeRecord(1);
  same_job.set_attempt_id(2);
  refuses(same_job, matrix::SealRecord(2, first.sha256(), 2, &same_job), "UNIQUE constraint failed: t_record.job_id");
  v1::Record same_attempt = matrix::MakeRecord(1);
  same_attempt.set_job_id(2);
  refuses(same_attempt, matrix::SealRecord(2, first.sha256(), 2, &same_attempt),
          "UNIQUE constraint failed: t_record.attempt_id");
  Reopen();
  Put(matrix::MakeRecord(2));
  EXPECT_THAT(Rows("SELECT record_id, job_id FROM records"), ElementsAre("1|1", "2|2"));
}

TEST_F(StoreTest, JobsWithoutAnAttemptMayHaveRecords) {
  for (const uint64_t job : {1, 2}) {
    v1::Record record = matrix::MakeRecord(job);
    record.set_attempt_id(0);
    const v1::StoredRecord stored = chain_.Add(&record);
    Store::Transaction transaction = store_->Begin();
    transaction.PutRecord(record, stored);
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  }
  EXPECT_THAT(Rows("SELECT job_id, attempt_id FROM records"), ElementsAre("1|NULL", "2|NULL"));
}

TEST_F(StoreTest, FactsKeepOneRowForEachValue) {
  const auto put = [&](const std::vector<std::pair<std::string, std::string>>& facts, int64_t at_s) {
    Store::Transaction transaction = store_->Begin();
    transaction.PutResource(MakeResource("dev", facts, at_s * 1'000'000'000));
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  };
  put({{"driver", "610.62"}, {"nvcc", "absent"}}, 10);
  put({{"driver", "610.62"}, {"nvcc", "absent"}}, 20);
  put({{"driver", "616.92"}, {"nvcc", "absent"}}, 30);
  put({{"driver", "616.92"}}, 40);
  put({{"driver", "610.62"}}, 50);
  EXPECT_THAT(Rows("SELECT key, value, current, observed_at, confirmed_at FROM facts"),
              ElementsAre("driver|610.62|0|1970-01-01T00:00:10Z|1970-01-01T00:00:20Z",
                          "nvcc|absent|0|1970-01-01T00:00:10Z|1970-01-01T00:00:30Z",
                          "driver|616.92|0|1970-01-01T00:00:30Z|1970-01-01T00:00:40Z",
                          "driver|610.62|1|1970-01-01T00:00:50Z|1970-01-01T00:00:50Z"));
}

TEST_F(StoreTest, TextIsKeptByteForByte) {
  const std::string odd("\xff\0'--\xc3\x28", 7);
  {
    Store::Transaction transaction = store_->Begin();
    transaction.PutIdempotency(odd, 1);
    transaction.PutIdempotency("", 2);
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  }
  Reopen();
  absl::StatusOr<Snapshot> snapshot = store_->LoadSnapshot();
  ASSERT_TRUE(snapshot.ok());
  EXPECT_EQ(snapshot->idempotency, (std::map<std::string, uint64_t>{{odd, 1}, {"", 2}}));
}

}  // namespace
}  // namespace pyptox::store
