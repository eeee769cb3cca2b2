// docs/schema.md and the database say the same; versions of the schema.
#include "matrix/store/schema.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "matrix/store/sandboxed_query.h"
#include "tests/unit/matrix/store/store_fixture.h"

namespace pyptox::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Page {
  std::map<std::string, std::vector<std::string>> views;  // name to `column|type`, in order
  std::vector<std::string> queries;
};

Page ReadPage() {
  std::ifstream file(std::string(getenv("PYPTOX_SOURCE_DIR")) + "/docs/schema.md");
  Page page;
  std::string view;
  bool sql = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      sql = line == "```sql";
      if (sql) page.queries.emplace_back();
    } else if (sql) {
      page.queries.back() += line + "\n";
    } else if (line.starts_with("### `")) {
      view = line.substr(5, line.size() - 6);
    } else if (line.starts_with("| `")) {
      const size_t end = line.find('`', 3);
      const size_t type = end + 4;
      page.views[view].push_back(line.substr(3, end - 3) + "|" + line.substr(type, line.find(' ', type) - type));
    }
  }
  return page;
}

class SchemaTest : public StoreTest {
 protected:
  // A value in every column: the affinity of an expression shows in its values only.
  void Fill() {
    v1::Record record = matrix::MakeRecord(1);
    record.mutable_evidence()->add_artifacts()->set_name("log.txt");
    record.mutable_evidence()->add_toolchains()->set_name("gcc");
    Put(std::move(record));
    Store::Transaction transaction = store_->Begin();
    v1::Job job = MakeJob(2, v1::JOB_STATE_DONE);
    job.set_record_id(1);
    job.set_ended_at_ns(1);
    transaction.PutJob(job);
    v1::Attempt attempt = MakeAttempt(2, 2);
    attempt.set_ended_at_ns(1);
    transaction.PutAttempt(attempt);
    v1::Lease lease;
    lease.set_key("resource/dev");
    lease.set_attempt_id(2);
    transaction.PutLease(lease);
    v1::Resource resource = MakeResource("dev", {{"kernel", "6.1"}}, 1);
    resource.set_holder_job_id(2);
    resource.set_holder_attempt_id(2);
    transaction.PutResource(resource);
    v1::ResourceOrder order;
    order.set_id(1);
    order.set_resource("dev");
    order.set_state(v1::RESOURCE_STATE_PAUSED);
    order.set_at_ns(1);
    transaction.PutResourceOrder(order);
    ASSERT_EQ(transaction.Commit(), absl::OkStatus());
  }
};

TEST_F(SchemaTest, ThePageHasEveryViewAndColumnAndNoOther) {
  Fill();
  std::map<std::string, std::vector<std::string>> found;
  for (const std::string& view : Rows("SELECT name FROM sqlite_schema WHERE type = 'view'")) {
    for (const std::string& column : Rows("SELECT name FROM pragma_table_info('" + view + "') ORDER BY cid")) {
      const std::vector<std::string> types =
          Rows("SELECT DISTINCT typeof(\"" + column + "\") FROM " + view + " WHERE \"" + column + "\" IS NOT NULL");
      ASSERT_EQ(types.size(), 1u) << view << "." << column;
      found[view].push_back(column + "|" + types[0]);
    }
  }
  EXPECT_EQ(ReadPage().views, found);
  EXPECT_EQ(found.size(), 10u);
}

TEST_F(SchemaTest, EveryQueryOfThePageRunsForPeople) {
  Fill();
  const Page page = ReadPage();
  ASSERT_GT(page.queries.size(), 8u);
  for (const std::string& sql : page.queries) {
    const auto answer = RunSandboxedQuery(path(), sql);
    EXPECT_TRUE(answer.ok()) << sql << answer.status();
  }
}

TEST_F(SchemaTest, ANewerSchemaIsRefused) {
  store_.reset();
  Tamper("CREATE TABLE seen (x); INSERT INTO seen VALUES (1); PRAGMA user_version = 99");
  const absl::Status status = Store::Open(path()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("schema version 99; this program knows versions up to"));
}

TEST_F(SchemaTest, AnotherProgramsFileIsLeftAlone) {
  const std::string other = folder_ / "other.db";
  {
    absl::StatusOr<Database> database = Database::Open(other, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->Execute("CREATE TABLE theirs (x)").ok());
  }
  EXPECT_THAT(Store::Open(other).status().ToString(), HasSubstr("another program's database"));
  folder_.Write("text.db", std::string(8192, 'x'));
  EXPECT_EQ(Store::Open(folder_ / "text.db").status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(SchemaTest, AChangedSchemaIsRefused) {
  store_.reset();
  const auto refusal = [&] { return Store::Open(path()).status().ToString(); };
  // Not Tamper, which wants to see changed rows.
  const auto alter = [&](const std::string& sql) {
    const auto database = Database::Open(path(), SQLITE_OPEN_READWRITE, nullptr);
    ASSERT_TRUE(database.ok());
    ASSERT_EQ(database->Execute(sql), absl::OkStatus());
  };
  const std::string view = Rows("SELECT sql FROM sqlite_schema WHERE name = 'matrix'").at(0);
  alter("DROP VIEW matrix");
  EXPECT_THAT(refusal(), HasSubstr("the schema was changed: view matrix is not as this program makes it"));
  alter("CREATE VIEW matrix AS SELECT 'ops' AS suite, 'PASS' AS standing");
  EXPECT_THAT(refusal(), HasSubstr("view matrix is not as"));
  alter("DROP VIEW matrix; " + view);
  EXPECT_TRUE(Store::Open(path()).ok()) << refusal();
  alter("CREATE TRIGGER t AFTER INSERT ON t_record BEGIN UPDATE t_record SET standing = 'PASS'; END");
  EXPECT_THAT(refusal(), HasSubstr("the schema was changed: trigger t was added"));
  alter("DROP TRIGGER t; DROP INDEX t_record_cell");
  EXPECT_THAT(refusal(), HasSubstr("index t_record_cell is not as"));
}

TEST_F(SchemaTest, AResourceOfVersion1IsStillThere) {
  const std::string old = folder_ / "v1.db";
  {
    absl::StatusOr<Database> database = Database::Open(old, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    ASSERT_TRUE(database.ok());
    ASSERT_EQ(Migrate(*database, Migrations().first(1)), absl::OkStatus());
    Statement put = database->Prepare(
        "INSERT INTO t_resource (name, backend, agent, state, reason, holder_job_id, holder_attempt_id, body) "
        "VALUES ('dev', 'cpu', 'a', 'RELEASED', '', 0, 0, ?)");
    v1::Resource resource;
    resource.set_name("dev");
    resource.set_agent("a");
    ASSERT_EQ(put.BindMessage(resource).Run(), absl::OkStatus());
  }
  const auto store = Store::Open(old);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto snapshot = (*store)->LoadSnapshot();
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  ASSERT_EQ(snapshot->resources.size(), 1u);
  EXPECT_EQ(snapshot->resources[0].agent(), "a");
  const auto answer = RunSandboxedQuery(old, "SELECT name || ' ' || health FROM resources");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->rows(0).values(0).text(), "dev UNKNOWN");
}

TEST_F(SchemaTest, MigrationsRunOnceInOrderAndAllOrNothing) {
  const std::string name = folder_ / "old.db";
  absl::StatusOr<Database> database = Database::Open(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  ASSERT_TRUE(database.ok());
  const std::string_view steps[] = {"CREATE TABLE a (x); INSERT INTO a VALUES (1);", "INSERT INTO a VALUES (2);",
                                    "INSERT INTO a VALUES (3); INSERT INTO nothing VALUES (1);"};
  const auto sum = [&] {
    Statement statement = database->Prepare("SELECT sum(x), user_version FROM a, pragma_user_version");
    return statement.Step() ? statement.Text(0) + " at " + statement.Text(1) : statement.status().ToString();
  };
  const std::span<const std::string_view> all(steps);
  ASSERT_EQ(Migrate(*database, all.first(1)), absl::OkStatus());
  EXPECT_EQ(sum(), "1 at 1");
  EXPECT_EQ(Migrate(*database, all.first(2)), absl::OkStatus());
  EXPECT_EQ(Migrate(*database, all.first(2)), absl::OkStatus());
  EXPECT_EQ(sum(), "3 at 2");
  EXPECT_FALSE(Migrate(*database, all).ok());
  EXPECT_EQ(sum(), "3 at 2");
}

}  // namespace
}  // namespace pyptox::store
