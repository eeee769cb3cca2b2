// A database in a folder of its own, and small messages to put into it.
#ifndef PYPTOX_TESTS_UNIT_MATRIX_STORE_STORE_FIXTURE_H_
#define PYPTOX_TESTS_UNIT_MATRIX_STORE_STORE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "matrix/store/reader.h"
#include "matrix/store/store.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/matrix/record_fixture.h"

namespace pyptox::store {

inline v1::Job MakeJob(uint64_t id, v1::JobState state = v1::JOB_STATE_QUEUED) {
  v1::Job job;
  job.set_id(id);
  job.set_submission_id(1);
  job.set_suite("ops");
  job.set_lane("cpu-scalar@dev");
  job.set_target("cpu-scalar");
  job.set_resource("dev");
  job.set_submitter("someone");
  job.set_state(state);
  job.set_submitted_at_ns(1'800'000'000'000'000'000);
  return job;
}

inline v1::Attempt MakeAttempt(uint64_t id, uint64_t job_id) {
  v1::Attempt attempt;
  attempt.set_id(id);
  attempt.set_job_id(job_id);
  attempt.set_number(1);
  attempt.set_agent("local");
  attempt.set_resource("dev");
  attempt.set_state(v1::ATTEMPT_STATE_RUNNING);
  attempt.set_assigned_at_ns(1'800'000'001'000'000'000);
  return attempt;
}

inline v1::JobSpec MakeSpec() {
  v1::JobSpec spec;
  spec.mutable_suite()->set_name("ops");
  v1::Lane& lane = *spec.mutable_suite()->add_lanes();
  lane.set_name("cpu-scalar@dev");
  lane.set_target("cpu-scalar");
  lane.mutable_resource()->set_name("dev");
  v1::FileEntry& file = *spec.mutable_tree()->add_files();
  file.set_name("add.c");
  file.set_size(3);
  file.set_sha256(std::string(64, '1'));
  return spec;
}

inline v1::Resource MakeResource(const std::string& name, const std::vector<std::pair<std::string, std::string>>& facts,
                                 int64_t at_ns) {
  v1::Resource resource;
  resource.set_name(name);
  resource.set_backend("cpu");
  resource.set_agent("local");
  resource.set_state(v1::RESOURCE_STATE_AVAILABLE);
  for (const auto& [key, value] : facts) {
    v1::Fact& fact = *resource.add_facts();
    fact.set_key(key);
    fact.set_value(value);
    fact.set_observer("agent:local");
    fact.set_method("uname -r");
    fact.set_observed_at_ns(at_ns);
  }
  return resource;
}

class StoreTest : public testing::Test {
 protected:
  StoreTest() { Reopen(); }

  void Reopen() {
    reader_.reset();
    store_.reset();
    absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path());
    if (!store.ok()) FAIL() << store.status();
    store_ = *std::move(store);
    absl::StatusOr<std::unique_ptr<Reader>> reader = Reader::Open(path());
    if (!reader.ok()) FAIL() << reader.status();
    reader_ = *std::move(reader);
  }
  std::string path() const { return folder_ / "pyptox.db"; }

  // Seals `record` as the next of the chain and stores it with its job and attempt.
  v1::StoredRecord Put(v1::Record record, uint32_t planned = 2) {
    const v1::StoredRecord stored = chain_.Add(&record, planned);
    Store::Transaction transaction = store_->Begin();
    v1::Job job = MakeJob(record.job_id(), v1::JOB_STATE_DONE);
    job.set_record_id(record.id());
    transaction.PutJob(job);
    transaction.PutJobSpec(record.job_id(), MakeSpec());
    transaction.PutAttempt(MakeAttempt(record.attempt_id(), record.job_id()));
    transaction.PutRecord(record, stored);
    EXPECT_EQ(transaction.Commit(), absl::OkStatus());
    return stored;
  }

  // Rows of any SELECT, the values of one joined by '|', NULL as "NULL". A connection of its own.
  std::vector<std::string> Rows(const std::string& sql) const {
    absl::StatusOr<Database> database = Database::Open(path(), SQLITE_OPEN_READONLY, nullptr);
    if (!database.ok()) return {database.status().ToString()};
    Statement statement = database->Prepare(sql);
    std::vector<std::string> rows;
    while (statement.Step()) {
      std::string& row = rows.emplace_back();
      for (int i = 0; i < statement.Columns(); ++i) {
        row += (i == 0 ? "" : "|") + (statement.Type(i) == SQLITE_NULL ? "NULL" : statement.Text(i));
      }
    }
    if (!statement.status().ok()) rows.push_back(statement.status().ToString());
    return rows;
  }

  // What a person with the file and `sqlite3` could do to it, behind the controller's back.
  void Tamper(const std::string& sql) const {
    absl::StatusOr<Database> database = Database::Open(path(), SQLITE_OPEN_READWRITE, nullptr);
    ASSERT_TRUE(database.ok());
    ASSERT_EQ(database->Execute(sql), absl::OkStatus());
    ASSERT_GT(sqlite3_total_changes(database->handle()), 0) << sql;
  }

  TempFolder folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Reader> reader_;
  matrix::Chain chain_;
};

}  // namespace pyptox::store

#endif  // PYPTOX_TESTS_UNIT_MATRIX_STORE_STORE_FIXTURE_H_
