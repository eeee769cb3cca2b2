#include "matrix/store/record_rows.h"

#include <fmt/format.h>

#include "matrix/standing.h"
#include "matrix/store/words.h"
#include "matrix/verdict.h"
#include "nlohmann/json.hpp"

namespace pyptox::store {
namespace {

constexpr std::string_view kRecordColumns =
    "id, suite, lane, partial, not_admitted, standing, unsettles, verdict, outcome, reason, not_covered, target, "
    "resource, agent, job_id, attempt_id, evidence_class, cases_planned, cases_passed, cases_failed, cases_skipped, "
    "cases_other, contract, contract_version, suite_sha256, golden_sha256, head, dirty, tree_sha256, submitter, "
    "recorded_at_ns, sha256, previous_sha256";
constexpr std::string_view kCaseColumns = "record_id, position, name, outcome, reason";
constexpr std::string_view kArtifactColumns = "record_id, position, name, size, sha256, executable";

// An integer of any width as SQLite has it.
template <typename Integer>
int64_t Number(Integer value) {
  return static_cast<int64_t>(value);
}

SqlRow RecordRow(const v1::Record& record, const std::string& sha256) {
  const v1::CaseCounts& counts = record.counts();
  const auto& not_covered = record.evidence().not_covered();
  return {Number(record.id()),
          record.suite(),
          record.lane(),
          Number(record.partial()),
          record.not_admitted(),
          matrix::RecordStanding(record),
          Number(matrix::UnsettlesPass(record.outcome())),
          matrix::VerdictWord(record.outcome().verdict()),
          matrix::OutcomeWord(record.outcome()),
          matrix::RecordReason(record),
          nlohmann::json(std::vector<std::string>(not_covered.begin(), not_covered.end())).dump(),
          record.target(),
          record.resource(),
          record.agent(),
          Number(record.job_id()),
          record.attempt_id() == 0 ? SqlValue() : SqlValue(Number(record.attempt_id())),
          matrix::EvidenceClassWord(record.evidence().evidence_class()),
          Number(counts.planned()),
          Number(counts.passed()),
          Number(counts.failed()),
          Number(counts.skipped()),
          Number(counts.other()),
          record.contract().name(),
          record.contract().version(),
          record.suite_sha256(),
          record.golden_sha256(),
          record.source().head(),
          Number(record.source().dirty()),
          record.source().tree_sha256(),
          record.submitter(),
          record.recorded_at_ns(),
          sha256,
          record.previous_sha256()};
}

std::string InsertSql(std::string_view table, std::string_view columns, std::string_view extra = "") {
  std::string places = "?";
  for (const char c : columns) places += c == ',' ? ", ?" : "";
  return fmt::format("INSERT INTO {} ({}{}) VALUES ({}{})", table, columns, extra, places, extra.empty() ? "" : ", ?");
}

void BindRow(Statement& statement, const SqlRow& row) {
  for (const SqlValue& value : row) {
    if (const auto* number = std::get_if<int64_t>(&value)) {
      statement.Bind(*number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      statement.Bind(*text);
    } else {
      statement.BindNull();
    }
  }
}

absl::Status InsertRows(const Database& database, std::string_view table, std::string_view columns,
                        const std::vector<SqlRow>& rows) {
  Statement insert = database.Prepare(InsertSql(table, columns));
  for (const SqlRow& row : rows) {
    BindRow(insert, row);
    if (absl::Status status = insert.Run(); !status.ok()) return status;
    insert.Reset();
  }
  return insert.status();
}

absl::Status CompareTable(const Database& database, std::string_view table, std::string_view columns,
                          std::string_view where, uint64_t id, const std::vector<SqlRow>& rows) {
  const auto fault = [&] {
    return absl::DataLossError(fmt::format("record {}: its rows in {} are not what it says", id, table));
  };
  Statement statement =
      database.Prepare(fmt::format("SELECT {} FROM {} WHERE {} = ? ORDER BY 1, 2", columns, table, where));
  statement.Bind(id);
  size_t at = 0;
  while (statement.Step()) {
    if (at == rows.size()) return fault();
    const SqlRow& row = rows[at++];
    for (size_t i = 0; i < row.size(); ++i) {
      const int column = static_cast<int>(i);
      const auto* number = std::get_if<int64_t>(&row[i]);
      const auto* text = std::get_if<std::string>(&row[i]);
      const int type = number != nullptr ? SQLITE_INTEGER : text != nullptr ? SQLITE_TEXT : SQLITE_NULL;
      if (statement.Type(column) != type) return fault();
      if (number != nullptr && statement.Integer(column) != *number) return fault();
      if (text != nullptr && statement.Text(column) != *text) return fault();
    }
  }
  if (!statement.status().ok()) return statement.status();
  return at == rows.size() ? absl::OkStatus() : fault();
}

}  // namespace

RecordRows RowsOf(const v1::Record& record, const std::string& sha256) {
  RecordRows rows{RecordRow(record, sha256), {}, {}};
  const int64_t id = Number(record.id());
  for (const v1::CaseResult& result : record.evidence().cases()) {
    rows.cases.push_back(
        {id, Number(rows.cases.size()), result.name(), matrix::CaseOutcomeWord(result.outcome()), result.reason()});
  }
  for (const v1::FileEntry& file : record.evidence().artifacts()) {
    rows.artifacts.push_back({id, Number(rows.artifacts.size()), file.name(), Number(file.size()), file.sha256(),
                              Number(file.executable())});
  }
  return rows;
}

absl::Status InsertRecord(const Database& database, const RecordRows& rows, const std::string& json) {
  Statement insert = database.Prepare(InsertSql("t_record", kRecordColumns, ", json"));
  BindRow(insert, rows.record);
  absl::Status status = insert.BindBlob(json).Run();
  if (status.ok()) status = InsertRows(database, "t_case", kCaseColumns, rows.cases);
  if (status.ok()) status = InsertRows(database, "t_artifact", kArtifactColumns, rows.artifacts);
  return status;
}

absl::Status CompareRows(const Database& database, uint64_t id, const RecordRows& rows) {
  absl::Status status = CompareTable(database, "t_record", kRecordColumns, "id", id, {rows.record});
  if (status.ok()) status = CompareTable(database, "t_case", kCaseColumns, "record_id", id, rows.cases);
  if (status.ok()) status = CompareTable(database, "t_artifact", kArtifactColumns, "record_id", id, rows.artifacts);
  return status;
}

}  // namespace pyptox::store
