#include "matrix/store/store.h"

#include <fmt/format.h>

#include "matrix/store/schema.h"

namespace pyptox::store {

absl::StatusOr<std::unique_ptr<Store>> Store::Open(const std::string& path, const char* vfs) {
  absl::StatusOr<Database> database = Database::Open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
  if (!database.ok()) return database.status();
  std::unique_ptr<Store> store(new Store(*std::move(database)));
  if (absl::Status status = store->Prepare(); !status.ok()) return status;
  return store;
}

Store::~Store() = default;

absl::Status Store::Prepare() {
  Statement mode = database_.Prepare("PRAGMA journal_mode = WAL");
  if (!mode.Step()) return mode.status();
  if (mode.Text(0) != "wal") {
    return absl::FailedPreconditionError(fmt::format("database: journal mode is {}, wal is needed", mode.Text(0)));
  }
  mode.Reset();
  // Each checkpoint is this connection's own, after a commit (wal_autocheckpoint, 1000 pages), or when it closes.
  absl::Status status = database_.Execute(
      "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; "
      "PRAGMA journal_size_limit = 67108864;");
  if (status.ok()) status = Migrate(database_);
  if (status.ok()) status = CheckSchema(database_);
  if (status.ok()) {
    status = database_.Execute(
        "INSERT OR IGNORE INTO t_meta (key, value) VALUES ('database_id', lower(hex(randomblob(16))))");
  }
  if (!status.ok()) return status;
  Statement id = database_.Prepare("SELECT value FROM t_meta WHERE key = 'database_id'");
  if (!id.Step()) return id.status().ok() ? absl::DataLossError("database: it has no id") : id.status();
  database_id_ = id.Text(0);
  return absl::OkStatus();
}

namespace {

// Reads one message a row out of column 0.
template <typename Message>
absl::Status ReadAll(const Database& database, std::string_view sql, std::vector<Message>* into) {
  Statement statement = database.Prepare(sql);
  while (statement.Step()) statement.ReadMessage(0, &into->emplace_back());
  return statement.status();
}

absl::Status ReadTables(const Database& database, Snapshot* snapshot) {
  const absl::Status all[] = {ReadAll(database, "SELECT body FROM t_job ORDER BY id", &snapshot->jobs),
                              ReadAll(database, "SELECT body FROM t_attempt ORDER BY id", &snapshot->attempts),
                              ReadAll(database, "SELECT body FROM t_lease ORDER BY key, attempt_id", &snapshot->leases),
                              ReadAll(database, "SELECT body FROM t_agent ORDER BY name", &snapshot->agents),
                              ReadAll(database, "SELECT body FROM t_resource ORDER BY name", &snapshot->resources)};
  for (const absl::Status& status : all) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadPairs(const Database& database, std::string_view sql,
                       const std::function<void(std::string, uint64_t)>& pair) {
  Statement statement = database.Prepare(sql);
  while (statement.Step()) pair(statement.Text(0), statement.Unsigned(1));
  return statement.status();
}

absl::Status ReadResults(const Database& database, std::vector<LaneResult>* results) {
  Statement statement = database.Prepare(
      "SELECT suite, suite_sha256, lane, tree_sha256, max(id), verdict FROM t_record WHERE partial = 0 "
      "GROUP BY suite, suite_sha256, lane, tree_sha256");
  while (statement.Step()) {
    LaneResult result{statement.Text(0), statement.Text(1),     statement.Text(2),
                      statement.Text(3), statement.Unsigned(4), {}};
    v1::Verdict_Parse("VERDICT_" + statement.Text(5), &result.verdict);
    results->push_back(std::move(result));
  }
  return statement.status();
}

}  // namespace

absl::StatusOr<Snapshot> Store::LoadSnapshot() {
  if (!failure_.ok()) return failure_;
  Snapshot snapshot;
  absl::Status status = ReadTables(database_, &snapshot);
  const auto then = [&](absl::Status next) {
    if (status.ok()) status = std::move(next);
  };
  Statement specs = database_.Prepare(
      "SELECT s.body, j.id FROM t_job j JOIN t_job_spec js ON js.job_id = j.id JOIN t_spec s ON s.id = js.spec_id "
      "WHERE j.state <> 'DONE'");
  while (specs.Step()) specs.ReadMessage(0, &snapshot.specs[specs.Unsigned(1)]);
  then(specs.status());
  then(ReadPairs(database_, "SELECT name, value FROM t_counter",
                 [&](std::string name, uint64_t value) { snapshot.counters.emplace(std::move(name), value); }));
  then(ReadPairs(database_, "SELECT key, submission_id FROM t_idempotency",
                 [&](std::string key, uint64_t value) { snapshot.idempotency.emplace(std::move(key), value); }));
  then(ReadPairs(database_, "SELECT key, token FROM t_token", [&](std::string key, uint64_t token) {
    v1::HeldLock& lock = snapshot.tokens.emplace_back();
    lock.set_key(std::move(key));
    lock.set_token(token);
  }));
  then(ReadPairs(database_, "SELECT sha256, id FROM t_record ORDER BY id DESC LIMIT 1",
                 [&](std::string sha256, uint64_t id) {
                   snapshot.record_head_sha256 = std::move(sha256);
                   snapshot.record_count = id;
                 }));
  then(ReadResults(database_, &snapshot.results));
  if (!status.ok()) return status;
  return snapshot;
}

}  // namespace pyptox::store
