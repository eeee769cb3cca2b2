#include "matrix/store/schema.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>
#include <string_view>

namespace pyptox::store {
namespace {

// Columns that people and views read stand beside `body`, the whole message for the controller's own recovery. A
// migration is never edited once it has been released; a change is a new entry.
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE t_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE t_counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE t_idempotency (key TEXT PRIMARY KEY, submission_id INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE t_lane (
  suite TEXT NOT NULL, lane TEXT NOT NULL, target TEXT NOT NULL, resource TEXT NOT NULL,
  PRIMARY KEY (suite, lane)) WITHOUT ROWID;

-- Jobs of one submission, and retries, share one spec.
CREATE TABLE t_spec (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE t_job_spec (
  job_id INTEGER PRIMARY KEY REFERENCES t_job (id) DEFERRABLE INITIALLY DEFERRED,
  spec_id INTEGER NOT NULL REFERENCES t_spec (id));
CREATE TABLE t_job (
  id INTEGER PRIMARY KEY, submission_id INTEGER NOT NULL, suite TEXT NOT NULL, lane TEXT NOT NULL,
  target TEXT NOT NULL, resource TEXT NOT NULL, priority INTEGER NOT NULL, submitter TEXT NOT NULL,
  state TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, attempts INTEGER NOT NULL,
  record_id INTEGER NOT NULL, head TEXT NOT NULL, dirty INTEGER NOT NULL, tree_sha256 TEXT NOT NULL,
  submitted_at_ns INTEGER NOT NULL, ended_at_ns INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX t_job_submission ON t_job (submission_id);
CREATE INDEX t_job_active ON t_job (id) WHERE state <> 'DONE';

CREATE TABLE t_attempt (
  id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL REFERENCES t_job (id) DEFERRABLE INITIALLY DEFERRED,
  number INTEGER NOT NULL, agent TEXT NOT NULL, resource TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT NOT NULL,
  reason TEXT NOT NULL, assigned_at_ns INTEGER NOT NULL, ended_at_ns INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX t_attempt_job ON t_attempt (job_id);
CREATE TABLE t_orphan (attempt_id INTEGER PRIMARY KEY, agent TEXT NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL);

CREATE TABLE t_lease (
  key TEXT NOT NULL, attempt_id INTEGER NOT NULL REFERENCES t_attempt (id) DEFERRABLE INITIALLY DEFERRED,
  mode TEXT NOT NULL, units INTEGER NOT NULL, token INTEGER NOT NULL, granted_at_ns INTEGER NOT NULL,
  body BLOB NOT NULL, PRIMARY KEY (key, attempt_id)) WITHOUT ROWID;
CREATE INDEX t_lease_attempt ON t_lease (attempt_id);
CREATE TABLE t_token (key TEXT PRIMARY KEY, token INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE t_agent (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE t_resource (
  name TEXT PRIMARY KEY, backend TEXT NOT NULL, agent TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
  holder_job_id INTEGER NOT NULL, holder_attempt_id INTEGER NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
-- One row for each value that a fact had; confirmed when the same value was last observed.
CREATE TABLE t_fact (
  id INTEGER PRIMARY KEY, resource TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, observer TEXT NOT NULL,
  method TEXT NOT NULL, observed_at_ns INTEGER NOT NULL, confirmed_at_ns INTEGER NOT NULL, current INTEGER NOT NULL);
CREATE UNIQUE INDEX t_fact_current ON t_fact (resource, key) WHERE current = 1;

-- `json` is the record; every other column is derived from it (matrix/store/record_rows.h) and verified against it.
CREATE TABLE t_record (
  id INTEGER PRIMARY KEY, suite TEXT NOT NULL, lane TEXT NOT NULL, partial INTEGER NOT NULL,
  not_admitted TEXT NOT NULL, standing TEXT NOT NULL, unsettles INTEGER NOT NULL, verdict TEXT NOT NULL,
  outcome TEXT NOT NULL, reason TEXT NOT NULL, not_covered TEXT NOT NULL, target TEXT NOT NULL,
  resource TEXT NOT NULL, agent TEXT NOT NULL, job_id INTEGER NOT NULL UNIQUE, attempt_id INTEGER UNIQUE,
  evidence_class TEXT NOT NULL, cases_planned INTEGER NOT NULL, cases_passed INTEGER NOT NULL,
  cases_failed INTEGER NOT NULL, cases_skipped INTEGER NOT NULL, cases_other INTEGER NOT NULL,
  contract TEXT NOT NULL, contract_version TEXT NOT NULL, suite_sha256 TEXT NOT NULL, golden_sha256 TEXT NOT NULL,
  head TEXT NOT NULL, dirty INTEGER NOT NULL, tree_sha256 TEXT NOT NULL, submitter TEXT NOT NULL,
  recorded_at_ns INTEGER NOT NULL, sha256 TEXT NOT NULL UNIQUE, previous_sha256 TEXT NOT NULL UNIQUE,
  json BLOB NOT NULL);
CREATE INDEX t_record_cell ON t_record (suite, lane, id);
CREATE INDEX t_record_result ON t_record (suite, suite_sha256, lane, tree_sha256, id, verdict) WHERE partial = 0;
CREATE TABLE t_case (
  record_id INTEGER NOT NULL REFERENCES t_record (id), position INTEGER NOT NULL, name TEXT NOT NULL,
  outcome TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (record_id, position)) WITHOUT ROWID;
CREATE TABLE t_artifact (
  record_id INTEGER NOT NULL REFERENCES t_record (id), position INTEGER NOT NULL, name TEXT NOT NULL,
  size INTEGER NOT NULL, sha256 TEXT NOT NULL, executable INTEGER NOT NULL,
  PRIMARY KEY (record_id, position)) WITHOUT ROWID;

CREATE VIEW jobs AS SELECT id AS job_id, submission_id, suite, lane, target, resource, priority, submitter, state,
  outcome, reason, attempts, nullif(record_id, 0) AS record_id, head, dirty, tree_sha256,
  strftime('%Y-%m-%dT%H:%M:%SZ', submitted_at_ns / 1000000000, 'unixepoch') AS submitted_at,
  CASE WHEN ended_at_ns <> 0 THEN strftime('%Y-%m-%dT%H:%M:%SZ', ended_at_ns / 1000000000, 'unixepoch') END AS ended_at
  FROM t_job;
CREATE VIEW attempts AS SELECT id AS attempt_id, job_id, number, agent, resource, state, outcome, reason,
  strftime('%Y-%m-%dT%H:%M:%SZ', assigned_at_ns / 1000000000, 'unixepoch') AS assigned_at,
  CASE WHEN ended_at_ns <> 0 THEN strftime('%Y-%m-%dT%H:%M:%SZ', ended_at_ns / 1000000000, 'unixepoch') END AS ended_at
  FROM t_attempt;
CREATE VIEW locks AS SELECT key, mode, units, attempt_id, token,
  strftime('%Y-%m-%dT%H:%M:%SZ', granted_at_ns / 1000000000, 'unixepoch') AS granted_at
  FROM t_lease;
CREATE VIEW resources AS SELECT name, backend, agent, state, reason, nullif(holder_job_id, 0) AS holder_job_id,
  nullif(holder_attempt_id, 0) AS holder_attempt_id FROM t_resource;
CREATE VIEW facts AS SELECT resource, key, value, observer, method, current,
  strftime('%Y-%m-%dT%H:%M:%SZ', observed_at_ns / 1000000000, 'unixepoch') AS observed_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', confirmed_at_ns / 1000000000, 'unixepoch') AS confirmed_at
  FROM t_fact;
CREATE VIEW records AS SELECT id AS record_id, suite, lane, target, resource, agent, job_id, attempt_id, outcome, reason,
  not_covered, evidence_class, cases_planned, cases_passed, cases_failed, cases_skipped, cases_other, contract,
  contract_version, suite_sha256, golden_sha256, head, dirty, tree_sha256, partial, not_admitted, submitter,
  strftime('%Y-%m-%dT%H:%M:%SZ', recorded_at_ns / 1000000000, 'unixepoch') AS recorded_at,
  sha256, previous_sha256, CAST(json AS TEXT) AS json
  FROM t_record;
CREATE VIEW cases AS SELECT c.record_id, r.job_id, r.suite, r.lane, c.position, c.name, c.outcome, c.reason
  FROM t_case c JOIN t_record r ON r.id = c.record_id;
CREATE VIEW artifacts AS SELECT a.record_id, r.job_id, r.attempt_id, a.name, a.size, a.sha256, a.executable
  FROM t_artifact a JOIN t_record r ON r.id = a.record_id;

-- The rule stands in matrix/standing.h, in words and in C++: r decides, u unsettles its PASS, n is the newest.
CREATE VIEW matrix AS
SELECT l.suite, l.lane, l.target, l.resource,
  CASE
    WHEN r.id IS NULL THEN 'NEVER_RUN'
    WHEN r.verdict = 'PASS' AND u.id IS NOT NULL THEN 'STALE(' || u.verdict || ')'
    ELSE r.standing
  END AS standing,
  CASE
    WHEN r.verdict = 'PASS' AND u.id IS NOT NULL THEN 'record ' || u.id || ' came to no verdict: ' || u.outcome
    WHEN n.id IS r.id THEN ifnull(r.reason, '')
    WHEN n.not_admitted <> '' THEN 'record ' || n.id || ' is not admitted: ' || n.not_admitted
    ELSE 'record ' || n.id || ' came to no verdict: ' || n.outcome
  END AS reason,
  ifnull(r.evidence_class, '') AS evidence_class,
  ifnull(r.cases_planned, 0) AS cases_planned, ifnull(r.cases_passed, 0) AS cases_passed,
  ifnull(r.cases_failed, 0) AS cases_failed, ifnull(r.cases_skipped, 0) AS cases_skipped,
  ifnull(r.cases_other, 0) AS cases_other, ifnull(r.head, '') AS head, r.id AS record_id,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.recorded_at_ns / 1000000000, 'unixepoch') AS recorded_at
FROM t_lane l
LEFT JOIN t_record r ON r.id = (SELECT max(d.id) FROM t_record d
  WHERE d.suite = l.suite AND d.lane = l.lane AND d.not_admitted = '' AND d.standing <> '')
LEFT JOIN t_record u ON u.id = (SELECT max(d.id) FROM t_record d
  WHERE d.suite = l.suite AND d.lane = l.lane AND d.not_admitted = '' AND d.unsettles = 1 AND d.id > r.id)
LEFT JOIN t_record n ON n.id = (SELECT max(d.id) FROM t_record d
  WHERE d.suite = l.suite AND d.lane = l.lane AND d.partial = 0);
)sql";

// What people order about resources, and whether a resource answers.
constexpr std::string_view kVersion2 = R"sql(
CREATE TABLE t_resource_order (
  id INTEGER PRIMARY KEY, resource TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL, until TEXT NOT NULL,
  person TEXT NOT NULL, at_ns INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX t_resource_order_resource ON t_resource_order (resource, id);
ALTER TABLE t_resource ADD COLUMN health TEXT NOT NULL DEFAULT 'UNKNOWN';

DROP VIEW resources;
CREATE VIEW resources AS SELECT name, backend, agent, state, health, reason, nullif(holder_job_id, 0) AS holder_job_id,
  nullif(holder_attempt_id, 0) AS holder_attempt_id FROM t_resource;
CREATE VIEW resource_orders AS SELECT id AS order_id, resource, state, reason, until, person,
  strftime('%Y-%m-%dT%H:%M:%SZ', at_ns / 1000000000, 'unixepoch') AS ordered_at
  FROM t_resource_order;
)sql";

constexpr std::string_view kMigrations[] = {kVersion1, kVersion2};

using Definitions = std::map<std::string, std::string>;  // SQL by kind and name

absl::StatusOr<Definitions> DefinitionsOf(const Database& database) {
  Definitions definitions;
  Statement statement = database.Prepare("SELECT type || ' ' || name, ifnull(sql, '') FROM sqlite_schema");
  while (statement.Step()) definitions[statement.Text(0)] = statement.Text(1);
  if (!statement.status().ok()) return statement.status();
  return definitions;
}

}  // namespace

std::span<const std::string_view> Migrations() { return kMigrations; }

uint32_t SchemaVersion() { return static_cast<uint32_t>(std::size(kMigrations)); }

absl::Status Migrate(const Database& database, std::span<const std::string_view> migrations) {
  Statement now =
      database.Prepare("SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version");
  if (!now.Step()) return now.status();
  const uint64_t version = now.Unsigned(0);
  const bool empty = now.Unsigned(1) == 0;
  now.Reset();
  if (version > migrations.size()) {
    return absl::FailedPreconditionError(fmt::format(
        "the database has schema version {}; this program knows versions up to {}", version, migrations.size()));
  }
  if (version == 0 && !empty) return absl::FailedPreconditionError("the file is another program's database");
  if (version == migrations.size()) return absl::OkStatus();
  absl::Status status = database.Execute("BEGIN IMMEDIATE");
  for (const std::string_view migration : migrations.subspan(version)) {
    if (status.ok()) status = database.Execute(std::string(migration));
  }
  if (status.ok()) status = database.Execute(fmt::format("PRAGMA user_version = {}", migrations.size()));
  if (status.ok()) status = database.Execute("COMMIT");
  if (!status.ok()) (void)database.Execute("ROLLBACK");
  return status;
}

absl::Status CheckSchema(const Database& database) {
  absl::StatusOr<Database> fresh = Database::Open(":memory:", SQLITE_OPEN_READWRITE, nullptr);
  if (!fresh.ok()) return fresh.status();
  if (absl::Status status = Migrate(*fresh); !status.ok()) return status;
  const absl::StatusOr<Definitions> wanted = DefinitionsOf(*fresh);
  if (!wanted.ok()) return wanted.status();
  absl::StatusOr<Definitions> found = DefinitionsOf(database);
  if (!found.ok()) return found.status();
  for (const auto& [name, sql] : *wanted) {
    const auto at = found->find(name);
    if (at == found->end() || at->second != sql) {
      return absl::DataLossError(fmt::format("the schema was changed: {} is not as this program makes it", name));
    }
    found->erase(at);
  }
  if (found->empty()) return absl::OkStatus();
  return absl::DataLossError(fmt::format("the schema was changed: {} was added", found->begin()->first));
}

}  // namespace pyptox::store
