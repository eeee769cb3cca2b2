// A thin owner of SQLite handles: statements with typed binding and columns, errors as Status.
#ifndef PYPTOX_MATRIX_STORE_SQLITE_H_
#define PYPTOX_MATRIX_STORE_SQLITE_H_

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"

namespace pyptox::store {

// One prepared statement. Bind by position from 1, Step until false, read columns from 0. The first error sticks: later
// calls do nothing and status() has it.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);
  // One that does nothing and has this error.
  explicit Statement(absl::Status error);
  Statement(Statement&&) = default;

  Statement& Bind(int64_t value);
  Statement& Bind(uint64_t value) { return Bind(static_cast<int64_t>(value)); }
  Statement& Bind(uint32_t value) { return Bind(static_cast<int64_t>(value)); }
  Statement& Bind(int value) { return Bind(static_cast<int64_t>(value)); }
  Statement& Bind(bool value) { return Bind(int64_t{value}); }
  Statement& Bind(std::string_view text);
  Statement& Bind(const std::string& text) { return Bind(std::string_view(text)); }
  Statement& Bind(const char* text) { return Bind(std::string_view(text)); }
  Statement& BindNull();
  Statement& BindBlob(std::string_view bytes);
  Statement& BindMessage(const google::protobuf::MessageLite& message);

  // True: a row is there. False: done, or an error.
  bool Step();
  // Runs to the end, for statements without rows.
  absl::Status Run();
  // Makes it ready to be bound and run again.
  void Reset();

  // SQLITE_INTEGER, SQLITE_TEXT, SQLITE_NULL, ...
  int Columns() const { return sqlite3_column_count(handle_.get()); }
  int Type(int column) const { return sqlite3_column_type(handle_.get(), column); }
  int64_t Integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  uint64_t Unsigned(int column) const { return static_cast<uint64_t>(Integer(column)); }
  std::string Text(int column) const;
  // DATA_LOSS sticks when the blob is not such a message.
  void ReadMessage(int column, google::protobuf::MessageLite* message);

  const absl::Status& status() const { return status_; }

 private:
  void Note(int code);

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> handle_;
  absl::Status status_;
  int next_ = 1;
};

// One connection.
class Database {
 public:
  // `flags` as of sqlite3_open_v2; `vfs` null for the default.
  static absl::StatusOr<Database> Open(const std::string& path, int flags, const char* vfs);

  Statement Prepare(std::string_view sql) const { return Statement(handle_.get(), sql); }
  // Runs any number of statements; their rows are not looked at.
  absl::Status Execute(const std::string& sql) const;
  sqlite3* handle() const { return handle_.get(); }

 private:
  explicit Database(sqlite3* handle) : handle_(handle, &sqlite3_close_v2) {}
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

// INTERNAL, or RESOURCE_EXHAUSTED for a full disk, with SQLite's words.
absl::Status SqliteStatus(sqlite3* database, int code, std::string_view what);

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_SQLITE_H_
