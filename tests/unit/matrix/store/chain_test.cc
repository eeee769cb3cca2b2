// Whoever changes the file behind the controller's back is found.
#include "tests/unit/matrix/store/store_fixture.h"

namespace pyptox::store {
namespace {

using testing::HasSubstr;

class ChainTest : public StoreTest {
 protected:
  ChainTest() {
    for (uint64_t i = 1; i <= 3; ++i) {
      v1::Record record = matrix::MakeRecord(i);
      v1::FileEntry& file = *record.mutable_evidence()->add_artifacts();
      file.set_name("log.txt");
      file.set_size(12);
      file.set_sha256(std::string(64, '2'));
      record.mutable_evidence()->add_not_covered("it's all simulated");
      Put(std::move(record));
    }
    EXPECT_EQ(reader_->VerifyChain(chain_.checkpoint()), absl::OkStatus());
  }
  // Every column of a table, asked of the database itself: a new one is tried too.
  std::vector<std::string> ColumnsOf(const std::string& table) const {
    return Rows("SELECT name FROM pragma_table_info('" + table + "')");
  }
};

TEST_F(ChainTest, EveryColumnIsHeldAgainstTheJson) {
  for (const char* table : {"t_record", "t_case", "t_artifact"}) {
    const std::string key = std::string(table) == "t_record" ? "id" : "record_id";
    const std::vector<std::string> columns = ColumnsOf(table);
    ASSERT_GT(columns.size(), 4u);
    for (const std::string& column : columns) {
      // A copy of its own for each change.
      Tamper(std::string("CREATE TEMP TABLE t(x); INSERT INTO t VALUES (1); UPDATE ") + table + " SET " + column +
             " = CASE typeof(" + column + ") WHEN 'integer' THEN " + column + " + 40 WHEN 'null' THEN 0 ELSE " +
             column + " || 'x' END WHERE " + key + " = 2");
      const absl::Status status = reader_->VerifyChain();
      EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << table << "." << column;
      EXPECT_THAT(status.ToString(), testing::ContainsRegex("record [1-4]")) << table << "." << column;
      Tamper(std::string("CREATE TEMP TABLE t(x); INSERT INTO t VALUES (1); UPDATE ") + table + " SET " + column +
             " = CASE typeof(" + column + ") WHEN 'integer' THEN " + column + " - 40 ELSE CAST(substr(" + column +
             ", 1, length(" + column + ") - 1) AS " + (column == "json" ? "BLOB" : "TEXT") + ") END WHERE " + key +
             " = " + (column == key ? "42" : "2"));
      ASSERT_EQ(reader_->VerifyChain(), absl::OkStatus()) << table << "." << column << " was not put back";
    }
  }
}

TEST_F(ChainTest, RemovedAndAddedRowsShow) {
  Tamper("INSERT INTO t_case SELECT record_id, 9, name, outcome, reason FROM t_case WHERE record_id = 1 LIMIT 1");
  EXPECT_THAT(reader_->VerifyChain().ToString(), HasSubstr("record 1: its rows in t_case"));
  Tamper("DELETE FROM t_case WHERE position = 9");
  EXPECT_EQ(reader_->VerifyChain(), absl::OkStatus());
  Tamper("DELETE FROM t_artifact WHERE record_id = 3");
  EXPECT_THAT(reader_->VerifyChain().ToString(), HasSubstr("record 3: its rows in t_artifact"));
}

TEST_F(ChainTest, ARemovedRecordShows) {
  Tamper(
      "DELETE FROM t_case WHERE record_id = 2; DELETE FROM t_artifact WHERE record_id = 2; "
      "DELETE FROM t_record WHERE id = 2");
  EXPECT_THAT(reader_->VerifyChain().ToString(), HasSubstr("record 3"));
}

// `record verify` reads record by record, while the controller runs.
TEST_F(ChainTest, ARecordWhoseRowsWereChangedIsNotGiven) {
  EXPECT_EQ(reader_->GetRecord(2)->id(), 2u);
  Tamper("UPDATE t_record SET standing = 'FAIL' WHERE id = 2");
  const absl::Status status = reader_->GetRecord(2).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "record 2: its rows in t_record are not what it says");
  EXPECT_EQ(reader_->GetRecord(1)->id(), 1u);
  Tamper("UPDATE t_case SET outcome = 'SKIPPED' WHERE record_id = 1");
  EXPECT_EQ(reader_->GetRecord(1).status().message(), "record 1: its rows in t_case are not what it says");
  Tamper("UPDATE t_record SET json = '{}' WHERE id = 3");
  EXPECT_EQ(reader_->GetRecord(3).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ChainTest, AJobShowsThatItsRecordWasCut) {
  Tamper(
      "DELETE FROM t_case WHERE record_id = 3; DELETE FROM t_artifact WHERE record_id = 3; "
      "DELETE FROM t_record WHERE id = 3");
  const absl::Status status = reader_->VerifyChain();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "job 3: its record 3 is not there or another job's: the chain was cut");
  // The place was taken by another job's record since.
  Tamper("UPDATE t_job SET record_id = 2 WHERE id = 3");
  EXPECT_EQ(reader_->VerifyChain().message(), "job 3: its record 2 is not there or another job's: the chain was cut");
}

TEST_F(ChainTest, OnlyACheckpointShowsACutEndWithItsJobs) {
  Tamper(
      "DELETE FROM t_job_spec WHERE job_id = 3; DELETE FROM t_attempt WHERE job_id = 3; DELETE FROM t_job WHERE id = "
      "3");
  Tamper(
      "DELETE FROM t_case WHERE record_id = 3; DELETE FROM t_artifact WHERE record_id = 3; "
      "DELETE FROM t_record WHERE id = 3");
  EXPECT_EQ(reader_->VerifyChain(), absl::OkStatus());
  EXPECT_EQ(reader_->VerifyChain(chain_.checkpoint()).code(), absl::StatusCode::kDataLoss);
}

TEST_F(ChainTest, AnyFlippedByteOfTheJsonShows) {
  const std::vector<std::string> lengths = Rows("SELECT length(json) FROM t_record WHERE id = 2");
  ASSERT_EQ(lengths.size(), 1u);
  const int length = std::stoi(lengths[0]);
  ASSERT_GT(length, 500);
  for (int at = 1; at <= length; at += 7) {
    const std::string place = std::to_string(at);
    const std::string byte = Rows("SELECT hex(substr(json, " + place + ", 1)) FROM t_record WHERE id = 2")[0];
    const auto set = [&](const std::string& hex) {
      Tamper("UPDATE t_record SET json = CAST(substr(json, 1, " + place + " - 1) || x'" + hex + "' || substr(json, " +
             place + " + 1) AS BLOB) WHERE id = 2");
    };
    set(byte == "41" ? "42" : "41");
    EXPECT_EQ(reader_->VerifyChain().code(), absl::StatusCode::kDataLoss) << "byte " << at;
    set(byte);
  }
  EXPECT_EQ(reader_->VerifyChain(), absl::OkStatus());
}

}  // namespace
}  // namespace pyptox::store
