#include "matrix/store/sandboxed_query.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <map>
#include <set>

#include "base/file_io.h"
#include "matrix/store/sqlite.h"

namespace pyptox::store {
namespace {

// Bytes of one value within the query: a record's JSON fits.
constexpr int kLongestValue = 16 << 20;

// Sanitizers reserve terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr rlim_t kAddressSpace = RLIM_INFINITY;
#else
constexpr rlim_t kAddressSpace = kQueryMemoryBytes;
#endif

using Names = std::set<std::string_view>;

// The views that docs/schema.md describes, each with the tables that it is made of.
const std::map<std::string_view, Names> kViews = {{"resources", {"t_resource"}},
                                                  {"resource_orders", {"t_resource_order"}},
                                                  {"facts", {"t_fact"}},
                                                  {"jobs", {"t_job"}},
                                                  {"attempts", {"t_attempt"}},
                                                  {"records", {"t_record"}},
                                                  {"cases", {"t_case", "t_record"}},
                                                  {"artifacts", {"t_artifact", "t_record"}},
                                                  {"matrix", {"t_lane", "t_record"}},
                                                  {"locks", {"t_lease"}}};

// Rows out of a JSON text, of a record for example.
const Names kTableFunctions = {"json_each", "json_tree"};

// Functions whose result is not much larger than their arguments, and that read nothing else. No printf, format,
// replace, hex, quote, zeroblob, randomblob: each can be a bomb of memory.
const Names kFunctions = {"abs", "avg", "coalesce", "count", "date", "datetime", "glob", "group_concat", "ifnull",
                          "iif", "instr", "julianday", "length", "like", "lower", "ltrim", "max", "min", "nullif",
                          "round", "rtrim", "sign", "strftime", "substr", "substring", "sum", "time", "total", "trim",
                          "typeof", "unicode", "unixepoch", "upper",
                          // Windows.
                          "row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value",
                          // JSON.
                          "json_extract", "json_array_length", "json_type", "->", "->>"};

// `within` names the view through which a table is read; it is null when the SQL itself names the table. A common table
// expression counts as such a view too, so one called `jobs` can see what `jobs` is made of; hence no view sees more
// than its own tables, and of those no `body`.
// A table of which no column is read, as in SELECT count(*), is reported without a column and without the view.
// `reserved` holds every table and module there is: another name can only be a common table expression's own, which a
// recursive one reads.
bool MayRead(const std::set<std::string>& reserved, std::string_view table, std::string_view column,
             const char* within) {
  std::string lower(table);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (!lower.starts_with("sqlite_") && !lower.starts_with("pragma_") && !reserved.contains(lower)) return true;
  if (table.empty() || kViews.contains(table) || kTableFunctions.contains(table)) return true;
  if (column.empty()) {
    return std::any_of(kViews.begin(), kViews.end(), [&](const auto& view) { return view.second.contains(table); });
  }
  if (within == nullptr || column == "body") return false;
  const auto view = kViews.find(within);
  return view != kViews.end() && view->second.contains(table);
}

int Authorize(void* reserved, int action, const char* first, const char* second, const char*, const char* within) {
  const auto text = [](const char* name) { return name == nullptr ? std::string_view() : std::string_view(name); };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_READ:
      return MayRead(*static_cast<const std::set<std::string>*>(reserved), text(first), text(second), within)
                 ? SQLITE_OK
                 : SQLITE_DENY;
    case SQLITE_FUNCTION:
      return kFunctions.contains(text(second)) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

int64_t MonotonicMs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

int PastDeadline(void* deadline) { return MonotonicMs() > *static_cast<const int64_t*>(deadline) ? 1 : 0; }

absl::Status QueryStatus(sqlite3* database, int code) {
  const std::string text = sqlite3_errmsg(database);
  switch (code & 0xff) {
    case SQLITE_INTERRUPT:
      return absl::ResourceExhaustedError(fmt::format("query: cut after {} s", kQuerySeconds));
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return absl::ResourceExhaustedError(fmt::format("query: more than its memory: {}", text));
    default:
      return absl::InvalidArgumentError(fmt::format("query: {}", text));
  }
}

void ReadValue(sqlite3_stmt* statement, int column, v1::QueryValue* value) {
  const auto bytes = [&] {
    const void* data = sqlite3_column_blob(statement, column);
    return std::string(static_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(statement, column)));
  };
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      value->set_integer(sqlite3_column_int64(statement, column));
      break;
    case SQLITE_FLOAT:
      value->set_real(sqlite3_column_double(statement, column));
      break;
    case SQLITE_TEXT:
      value->set_text(sqlite3_column_bytes(statement, column) == 0 ? "" : bytes());
      break;
    case SQLITE_BLOB:
      value->set_blob(sqlite3_column_bytes(statement, column) == 0 ? "" : bytes());
      break;
    default:
      break;  // NULL: no value is set.
  }
}

absl::Status ReadRows(sqlite3* database, sqlite3_stmt* statement, v1::QueryResponse* response) {
  const int columns = sqlite3_column_count(statement);
  for (int i = 0; i < columns; ++i) response->add_columns(sqlite3_column_name(statement, i));
  size_t bytes = 0;
  int code = 0;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (response->rows_size() == kQueryRows) {
      return absl::ResourceExhaustedError(fmt::format("query: more than {} rows; add a LIMIT", kQueryRows));
    }
    v1::QueryRow* row = response->add_rows();
    for (int i = 0; i < columns; ++i) ReadValue(statement, i, row->add_values());
    bytes += row->ByteSizeLong();
    if (bytes > kQueryResultBytes) {
      return absl::ResourceExhaustedError(fmt::format("query: more than {} bytes of result", kQueryResultBytes));
    }
  }
  return code == SQLITE_DONE ? absl::OkStatus() : QueryStatus(database, code);
}

void Restrict(sqlite3* database, int64_t* deadline, std::set<std::string>* reserved) {
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(database, SQLITE_LIMIT_EXPR_DEPTH, 100);
  sqlite3_limit(database, SQLITE_LIMIT_COMPOUND_SELECT, 50);
  sqlite3_limit(database, SQLITE_LIMIT_COLUMN, 500);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_hard_heap_limit64(static_cast<int64_t>(kQueryMemoryBytes / 4));
  sqlite3_progress_handler(database, 1000, &PastDeadline, deadline);
  sqlite3_set_authorizer(database, &Authorize, reserved);
}

}  // namespace

absl::Status LimitThisProcess() {
  const auto limit = [](__rlimit_resource resource, rlim_t value) {
    const rlimit both = {value, value};
    return setrlimit(resource, &both) == 0;
  };
  // A write to a file fails instead of killing; pipes have no such limit.
  if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return ErrnoStatus(errno, "signal");
  if (!limit(RLIMIT_AS, kAddressSpace) || !limit(RLIMIT_CPU, kQuerySeconds + 1) || !limit(RLIMIT_FSIZE, 0) ||
      !limit(RLIMIT_CORE, 0)) {
    return ErrnoStatus(errno, "setrlimit");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::QueryResponse> RunSandboxedQuery(const std::string& database_path, std::string_view sql) {
  absl::StatusOr<Database> database = Database::Open(database_path, SQLITE_OPEN_READONLY, nullptr);
  if (!database.ok()) return database.status();
  // Sorting and temporary tables stay in memory, under the heap limit.
  if (absl::Status status = database->Execute("PRAGMA query_only = ON; PRAGMA temp_store = MEMORY;"); !status.ok()) {
    return status;
  }
  sqlite3* const handle = database->handle();
  int64_t deadline = MonotonicMs() + kQuerySeconds * 1000;
  std::set<std::string> reserved;
  Statement names = database->Prepare(
      "SELECT lower(name) FROM sqlite_schema UNION SELECT lower(name) FROM pragma_module_list UNION "
      "SELECT lower(name) FROM pragma_table_list");
  while (names.Step()) reserved.insert(names.Text(0));
  if (!names.status().ok()) return names.status();
  // The first use of a table function declares its table, which the authorizer would refuse.
  for (const std::string_view function : kTableFunctions) {
    if (absl::Status status = database->Prepare(fmt::format("SELECT 1 FROM {}('[]')", function)).Run(); !status.ok()) {
      return status;
    }
  }
  Restrict(handle, &deadline, &reserved);

  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int code = sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &raw, &tail);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, &sqlite3_finalize);
  if (code != SQLITE_OK) return QueryStatus(handle, code);
  if (raw == nullptr) return absl::InvalidArgumentError("query: there is no statement");
  const std::string_view rest = sql.substr(static_cast<size_t>(tail - sql.data()));
  if (rest.find_first_not_of(" \t\r\n;") != std::string_view::npos) {
    return absl::InvalidArgumentError("query: exactly one statement is allowed");
  }
  if (sqlite3_stmt_readonly(raw) == 0 || sqlite3_column_count(raw) == 0 || sqlite3_stmt_isexplain(raw) != 0) {
    return absl::InvalidArgumentError("query: only a SELECT is allowed");
  }
  v1::QueryResponse response;
  if (absl::Status status = ReadRows(handle, raw, &response); !status.ok()) return status;
  return response;
}

}  // namespace pyptox::store
