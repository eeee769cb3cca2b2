#include "matrix/store/sqlite.h"

#include <fmt/format.h>

#include <utility>

namespace pyptox::store {

absl::Status SqliteStatus(sqlite3* database, int code, std::string_view what) {
  const std::string text =
      fmt::format("database: {}: {}", what, database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database));
  switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return absl::OkStatus();
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(text);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(text);
    default:
      return absl::InternalError(text);
  }
}

Statement::Statement(sqlite3* database, std::string_view sql)
    : database_(database), handle_(nullptr, &sqlite3_finalize) {
  sqlite3_stmt* handle = nullptr;
  Note(sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &handle, nullptr));
  handle_.reset(handle);
}

Statement::Statement(absl::Status error)
    : database_(nullptr), handle_(nullptr, &sqlite3_finalize), status_(std::move(error)) {}

void Statement::Note(int code) {
  if (status_.ok()) status_ = SqliteStatus(database_, code, "statement");
}

Statement& Statement::Bind(int64_t value) {
  if (status_.ok()) Note(sqlite3_bind_int64(handle_.get(), next_++, value));
  return *this;
}

Statement& Statement::Bind(std::string_view text) {
  if (status_.ok()) {
    // An empty view may have a null pointer, which SQLite would take for NULL.
    const char* data = text.data() == nullptr ? "" : text.data();
    Note(sqlite3_bind_text64(handle_.get(), next_++, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  return *this;
}

Statement& Statement::BindNull() {
  if (status_.ok()) Note(sqlite3_bind_null(handle_.get(), next_++));
  return *this;
}

Statement& Statement::BindBlob(std::string_view bytes) {
  if (status_.ok()) {
    const char* data = bytes.data() == nullptr ? "" : bytes.data();
    Note(sqlite3_bind_blob64(handle_.get(), next_++, data, bytes.size(), SQLITE_TRANSIENT));
  }
  return *this;
}

Statement& Statement::BindMessage(const google::protobuf::MessageLite& message) {
  return BindBlob(message.SerializeAsString());
}

bool Statement::Step() {
  if (!status_.ok()) return false;
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  Note(code);
  return false;
}

absl::Status Statement::Run() {
  while (Step()) {
  }
  return status_;
}

void Statement::Reset() {
  if (status_.ok()) sqlite3_reset(handle_.get());
  next_ = 1;
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_blob(handle_.get(), column));
  const int bytes = sqlite3_column_bytes(handle_.get(), column);
  return text == nullptr ? "" : std::string(text, static_cast<size_t>(bytes));
}

void Statement::ReadMessage(int column, google::protobuf::MessageLite* message) {
  if (status_.ok() && !message->ParseFromString(Text(column))) {
    status_ = absl::DataLossError(fmt::format("database: a stored {} can't be read", message->GetTypeName()));
  }
}

absl::StatusOr<Database> Database::Open(const std::string& path, int flags, const char* vfs) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, vfs);
  Database database(handle);
  if (code != SQLITE_OK) return SqliteStatus(handle, code, path);
  sqlite3_busy_timeout(handle, 5000);
  return database;
}

absl::Status Database::Execute(const std::string& sql) const {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return SqliteStatus(handle_.get(), code, sql.substr(0, sql.find('\n')));
}

}  // namespace pyptox::store
