// The rows that stand beside a record's JSON, so that views and indexes need not read it. They are derived by one
// function when a record is stored, and again when the chain is verified: a row that somebody changed shows.
#ifndef PYPTOX_MATRIX_STORE_RECORD_ROWS_H_
#define PYPTOX_MATRIX_STORE_RECORD_ROWS_H_

#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "matrix/store/sqlite.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::store {

// NULL, INTEGER or TEXT.
using SqlValue = std::variant<std::monostate, int64_t, std::string>;
using SqlRow = std::vector<SqlValue>;

struct RecordRows {
  SqlRow record;                  // all columns of t_record but `json`
  std::vector<SqlRow> cases;      // t_case
  std::vector<SqlRow> artifacts;  // t_artifact
};

// `sha256` is that of the record's JSON.
RecordRows RowsOf(const v1::Record& record, const std::string& sha256);

absl::Status InsertRecord(const Database& database, const RecordRows& rows, const std::string& json);

// DATA_LOSS when the stored rows of record `id` are not `rows`.
absl::Status CompareRows(const Database& database, uint64_t id, const RecordRows& rows);

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_RECORD_ROWS_H_
