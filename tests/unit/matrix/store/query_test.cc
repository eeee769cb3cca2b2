#include "matrix/store/sandboxed_query.h"
#include "tests/unit/matrix/store/store_fixture.h"

namespace pyptox::store {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class QueryTest : public StoreTest {
 protected:
  QueryTest() {
    Put(matrix::MakeRecord(1));
    Put(matrix::MakeRecord(2));
  }
  // The one value of the answer as text, or the error.
  std::string Ask(std::string_view sql) {
    const auto answer = RunSandboxedQuery(path(), sql);
    if (!answer.ok()) return answer.status().ToString();
    if (answer->rows_size() != 1 || answer->rows(0).values_size() != 1) return "not one value";
    const v1::QueryValue& value = answer->rows(0).values(0);
    switch (value.value_case()) {
      case v1::QueryValue::kInteger:
        return std::to_string(value.integer());
      case v1::QueryValue::kReal:
        return std::to_string(value.real());
      case v1::QueryValue::kText:
        return "'" + value.text() + "'";
      case v1::QueryValue::kBlob:
        return "blob of " + std::to_string(value.blob().size());
      default:
        return "NULL";
    }
  }
};

TEST_F(QueryTest, ValuesKeepTheirTypes) {
  EXPECT_EQ(Ask("SELECT 9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Ask("SELECT 0.5"), "0.500000");
  EXPECT_EQ(Ask("SELECT NULL"), "NULL");
  EXPECT_EQ(Ask("SELECT ''"), "''");
  EXPECT_EQ(Ask("SELECT x'00ff'"), "blob of 2");
}

TEST_F(QueryTest, ViewsCanBeCountedJoinedAndTakenApart) {
  for (const char* view : {"resources", "resource_orders", "facts", "jobs", "attempts", "records", "cases", "artifacts",
                           "matrix", "locks"}) {
    EXPECT_EQ(Ask(std::string("SELECT count(*) >= 0 FROM ") + view), "1") << view;
    EXPECT_TRUE(RunSandboxedQuery(path(), std::string("SELECT * FROM ") + view).ok()) << view;
  }
  EXPECT_EQ(Ask("SELECT suite || ' ' || standing FROM matrix"), "'ops PASS'");
  EXPECT_EQ(Ask("SELECT count(*) FROM jobs JOIN records USING (job_id)"), "2");
  EXPECT_EQ(Ask("SELECT group_concat(attempt_id) FROM (SELECT attempt_id FROM records ORDER BY record_id)"), "'1,2'");
  EXPECT_EQ(Ask("SELECT count(*) FROM records, json_each(records.json, '$.evidence.cases')"), "4");
  EXPECT_EQ(Ask("SELECT count(*) > 9 FROM json_tree((SELECT json FROM records WHERE record_id = 1))"), "1");
  EXPECT_EQ(Ask("WITH n AS (SELECT count(*) AS c FROM jobs) SELECT c FROM n"), "2");
  EXPECT_EQ(Ask("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT sum(x) FROM n"),
            "15");
}

TEST_F(QueryTest, NothingButOneSelectOverTheViews) {
  const std::vector<std::string> before = folder_.List();
  for (const std::string& sql : {std::string("DELETE FROM jobs"),
                                 std::string("UPDATE t_job SET state = 'DONE'"),
                                 std::string("DROP VIEW jobs"),
                                 std::string("PRAGMA user_version"),
                                 std::string("PRAGMA query_only = OFF"),
                                 std::string("EXPLAIN SELECT 1"),
                                 std::string("BEGIN"),
                                 "ATTACH '" + (folder_ / "x.db") + "' AS x",
                                 "VACUUM INTO '" + (folder_ / "x.db") + "'",
                                 std::string("SELECT 1; SELECT 2"),
                                 std::string(""),
                                 std::string("-- nothing"),
                                 std::string("SELECT * FROM sqlite_schema"),
                                 std::string("SELECT * FROM sqlite_master"),
                                 std::string("SELECT * FROM pragma_table_info('jobs')"),
                                 std::string("SELECT body FROM t_job"),
                                 std::string("SELECT id FROM t_job"),
                                 std::string("SELECT key FROM t_idempotency"),
                                 std::string("SELECT count(*) FROM t_idempotency"),
                                 std::string("SELECT count(*) FROM t_spec"),
                                 std::string("WITH jobs AS (SELECT body FROM t_job) SELECT * FROM jobs"),
                                 std::string("WITH jobs AS (SELECT key FROM t_token) SELECT * FROM jobs"),
                                 std::string("SELECT load_extension('x')"),
                                 std::string("SELECT readfile('/etc/passwd')"),
                                 std::string("SELECT zeroblob(1)"),
                                 std::string("SELECT randomblob(1)"),
                                 std::string("SELECT hex(1)"),
                                 std::string("SELECT printf('%1000000000d', 1)")}) {
    EXPECT_THAT(Ask(sql), HasSubstr("INVALID_ARGUMENT: query: ")) << sql;
  }
  EXPECT_EQ(folder_.List(), before);
}

TEST_F(QueryTest, NothingRunsOrGrowsForEver) {
  const std::string endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
  EXPECT_THAT(Ask(endless + "SELECT count(*) FROM n"), HasSubstr("RESOURCE_EXHAUSTED: query: cut after 2 s"));
  EXPECT_THAT(Ask(endless + "SELECT x FROM n"), HasSubstr("more than 10000 rows"));
  EXPECT_THAT(Ask(endless + "SELECT x FROM n ORDER BY -x"), HasSubstr("RESOURCE_EXHAUSTED"));
  const std::string doubling =
      "WITH RECURSIVE n(i, x) AS (SELECT 0, 'xxxxxxxx' UNION ALL SELECT i + 1, x || x FROM n WHERE i < 30) ";
  EXPECT_THAT(Ask(doubling + "SELECT max(length(x)) FROM n"), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_THAT(Ask("WITH RECURSIVE n(i, x) AS (SELECT 0, 'xxxxxxxx' UNION ALL SELECT i + 1, x || x FROM n "
                  "WHERE i < 20) SELECT x FROM n"),
              HasSubstr("bytes of result"));
}

TEST_F(QueryTest, ATypoIsNamed) {
  EXPECT_THAT(Ask("SELECT standing FROM matrx"), HasSubstr("no such table: matrx"));
  EXPECT_THAT(Ask("SELECT standin FROM matrix"), HasSubstr("no such column: standin"));
  EXPECT_THAT(Ask("SELEC 1"), HasSubstr("near \"SELEC\": syntax error"));
}

}  // namespace
}  // namespace pyptox::store
