#include "matrix/store/schema.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace pyptox::store {
namespace {

// Columns that people and views read stand beside `body`, the whole message for the controller's own recovery. A
// migration is never edited once it has landed; a change is a new entry.
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE t_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE t_counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE t_idempotency (key TEXT PRIMARY KEY, submission_id INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE t_lane (
  suite TEXT NOT NULL, lane TEXT NOT NULL, target TEXT NOT NULL, resource TEXT NOT NULL,
  PRIMARY KEY (suite, lane)) WITHOUT ROWID;

CREATE TABLE t_job (
  id INTEGER PRIMARY KEY, submission_id INTEGER NOT NULL, suite TEXT NOT NULL, lane TEXT NOT NULL, target TEXT NOT NULL,
  resource TEXT NOT NULL, priority INTEGER NOT NULL, submitter TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT NOT NULL,
  reason TEXT NOT NULL, attempts INTEGER NOT NULL, record_id INTEGER NOT NULL, head TEXT NOT NULL, dirty INTEGER NOT NULL,
  tree_sha256 TEXT NOT NULL, submitted_at_ns INTEGER NOT NULL, ended_at_ns INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX t_job_submission ON t_job (submission_id);
CREATE INDEX t_job_active ON t_job (id) WHERE state <> 'DONE';
CREATE TABLE t_job_spec (job_id INTEGER PRIMARY KEY REFERENCES t_job (id), body BLOB NOT NULL);

CREATE TABLE t_attempt (
  id INTEGER PRIMARY KEY, job_id INTEGER NOT NULL REFERENCES t_job (id), number INTEGER NOT NULL, agent TEXT NOT NULL,
  resource TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL,
  assigned_at_ns INTEGER NOT NULL, ended_at_ns INTEGER NOT NULL, body BLOB NOT NULL);
CREATE INDEX t_attempt_job ON t_attempt (job_id);

CREATE TABLE t_lease (
  key TEXT NOT NULL, attempt_id INTEGER NOT NULL, mode TEXT NOT NULL, units INTEGER NOT NULL, token INTEGER NOT NULL,
  granted_at_ns INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (key, attempt_id)) WITHOUT ROWID;
CREATE TABLE t_token (key TEXT PRIMARY KEY, token INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE t_agent (name TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE t_resource (
  name TEXT PRIMARY KEY, backend TEXT NOT NULL, agent TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
  holder_job_id INTEGER NOT NULL, holder_attempt_id INTEGER NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE t_fact (
  id INTEGER PRIMARY KEY, resource TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, observer TEXT NOT NULL,
  method TEXT NOT NULL, observed_at_ns INTEGER NOT NULL);
CREATE INDEX t_fact_key ON t_fact (resource, key, id);

CREATE TABLE t_record (
  id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, previous_sha256 TEXT NOT NULL, suite TEXT NOT NULL,
  contract TEXT NOT NULL, contract_version TEXT NOT NULL, suite_sha256 TEXT NOT NULL, golden_sha256 TEXT NOT NULL,
  lane TEXT NOT NULL, target TEXT NOT NULL, resource TEXT NOT NULL, agent TEXT NOT NULL, job_id INTEGER NOT NULL,
  attempt_id INTEGER, verdict TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, evidence_class TEXT NOT NULL,
  cases_planned INTEGER NOT NULL, cases_passed INTEGER NOT NULL, cases_failed INTEGER NOT NULL,
  cases_skipped INTEGER NOT NULL, cases_other INTEGER NOT NULL, not_covered TEXT NOT NULL, head TEXT NOT NULL,
  dirty INTEGER NOT NULL, tree_sha256 TEXT NOT NULL, partial INTEGER NOT NULL, not_admitted TEXT NOT NULL,
  submitter TEXT NOT NULL, recorded_at_ns INTEGER NOT NULL, json BLOB NOT NULL);
CREATE UNIQUE INDEX t_record_attempt ON t_record (attempt_id) WHERE attempt_id IS NOT NULL;
CREATE INDEX t_record_cell ON t_record (suite, lane, id);
CREATE INDEX t_record_job ON t_record (job_id);
CREATE TABLE t_case (
  record_id INTEGER NOT NULL REFERENCES t_record (id), position INTEGER NOT NULL, name TEXT NOT NULL,
  outcome TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (record_id, position)) WITHOUT ROWID;
CREATE TABLE t_artifact (
  record_id INTEGER NOT NULL REFERENCES t_record (id), name TEXT NOT NULL, attempt_id INTEGER NOT NULL,
  job_id INTEGER NOT NULL, size INTEGER NOT NULL, sha256 TEXT NOT NULL, executable INTEGER NOT NULL,
  PRIMARY KEY (record_id, name)) WITHOUT ROWID;
CREATE INDEX t_artifact_job ON t_artifact (job_id);
CREATE TABLE t_orphan (
  id INTEGER PRIMARY KEY, attempt_id INTEGER NOT NULL, agent TEXT NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL);

CREATE VIEW jobs AS SELECT id AS job_id, submission_id, suite, lane, target, resource, priority, submitter, state, outcome,
  reason, attempts, record_id, head, dirty, tree_sha256,
  strftime('%Y-%m-%dT%H:%M:%SZ', submitted_at_ns / 1000000000, 'unixepoch') AS submitted_at,
  CASE WHEN ended_at_ns = 0 THEN NULL ELSE strftime('%Y-%m-%dT%H:%M:%SZ', ended_at_ns / 1000000000, 'unixepoch') END
    AS ended_at
  FROM t_job;
CREATE VIEW attempts AS SELECT id AS attempt_id, job_id, number, agent, resource, state, outcome, reason,
  strftime('%Y-%m-%dT%H:%M:%SZ', assigned_at_ns / 1000000000, 'unixepoch') AS assigned_at,
  CASE WHEN ended_at_ns = 0 THEN NULL ELSE strftime('%Y-%m-%dT%H:%M:%SZ', ended_at_ns / 1000000000, 'unixepoch') END
    AS ended_at
  FROM t_attempt;
CREATE VIEW locks AS SELECT key, mode, units, attempt_id, token,
  strftime('%Y-%m-%dT%H:%M:%SZ', granted_at_ns / 1000000000, 'unixepoch') AS granted_at FROM t_lease;
CREATE VIEW resources AS SELECT name, backend, agent, state, reason, holder_job_id, holder_attempt_id FROM t_resource;
CREATE VIEW facts AS SELECT resource, key, value, observer, method,
  strftime('%Y-%m-%dT%H:%M:%SZ', observed_at_ns / 1000000000, 'unixepoch') AS observed_at,
  id = (SELECT max(n.id) FROM t_fact n WHERE n.resource = f.resource AND n.key = f.key) AS current
  FROM t_fact f;
CREATE VIEW records AS SELECT id AS record_id, sha256, previous_sha256, suite, contract, contract_version, suite_sha256,
  golden_sha256, lane, target, resource, agent, job_id, attempt_id, outcome, reason, evidence_class, cases_planned,
  cases_passed, cases_failed, cases_skipped, cases_other, not_covered, head, dirty, tree_sha256, partial, not_admitted,
  submitter, strftime('%Y-%m-%dT%H:%M:%SZ', recorded_at_ns / 1000000000, 'unixepoch') AS recorded_at,
  CAST(json AS TEXT) AS json FROM t_record;
CREATE VIEW cases AS SELECT c.record_id, r.job_id, r.suite, r.lane, c.name, c.outcome, c.reason
  FROM t_case c JOIN t_record r ON r.id = c.record_id;
CREATE VIEW artifacts AS SELECT record_id, job_id, attempt_id, name, size, sha256, executable FROM t_artifact;

-- The newest admitted record with a statement about the code decides; a newer one that may not stand in the matrix, or that came
-- to no verdict, is named in the reason. The rule in words and in C++: matrix/standing.h.
CREATE VIEW matrix AS
SELECT l.suite, l.lane, l.target, l.resource,
  CASE
    WHEN r.id IS NULL THEN 'NEVER_RUN'
    WHEN r.verdict = 'PASS' AND r.not_covered <> '' THEN 'PASS (limited)'
    WHEN r.verdict = 'BLOCKED_TOOLCHAIN' THEN 'BLOCKED(toolchain)'
    WHEN r.verdict = 'BLOCKED_DEVICE' THEN 'BLOCKED(device)'
    ELSE r.verdict
  END AS standing,
  CASE
    WHEN n.id IS NULL THEN ''
    WHEN n.id IS NOT r.id AND n.not_admitted <> '' THEN 'record ' || n.id || ' is not admitted: ' || n.not_admitted
    WHEN n.id IS NOT r.id THEN 'record ' || n.id || ' came to no verdict: ' || n.outcome
    WHEN r.verdict = 'PASS' THEN r.not_covered
    ELSE r.reason
  END AS reason,
  ifnull(r.evidence_class, '') AS evidence_class,
  ifnull(r.cases_planned, 0) AS cases_planned, ifnull(r.cases_passed, 0) AS cases_passed,
  ifnull(r.cases_failed, 0) AS cases_failed, ifnull(r.cases_skipped, 0) AS cases_skipped,
  ifnull(r.cases_other, 0) AS cases_other, ifnull(r.head, '') AS head, r.id AS record_id,
  strftime('%Y-%m-%dT%H:%M:%SZ', r.recorded_at_ns / 1000000000, 'unixepoch') AS recorded_at
FROM t_lane l
LEFT JOIN t_record r ON r.id = (SELECT max(d.id) FROM t_record d WHERE d.suite = l.suite AND d.lane = l.lane
  AND d.not_admitted = '' AND d.verdict IN ('PASS', 'FAIL', 'BLOCKED_TOOLCHAIN', 'BLOCKED_DEVICE'))
LEFT JOIN t_record n ON n.id = (SELECT max(d.id) FROM t_record d WHERE d.suite = l.suite AND d.lane = l.lane
  AND d.partial = 0);
)sql";

constexpr std::string_view kMigrations[] = {kVersion1};

}  // namespace

uint32_t SchemaVersion() { return static_cast<uint32_t>(std::size(kMigrations)); }

absl::Status Migrate(const Database& database) {
  Statement version = database.Prepare("PRAGMA user_version");
  if (!version.Step()) return version.status();
  const int64_t found = version.Integer(0);
  version.Reset();
  if (found > SchemaVersion()) {
    return absl::FailedPreconditionError(
        fmt::format("the database has schema version {}, this program knows up to {}", found, SchemaVersion()));
  }
  if (found == SchemaVersion()) return absl::OkStatus();
  std::string sql = "BEGIN IMMEDIATE;";
  for (size_t i = static_cast<size_t>(found); i < std::size(kMigrations); ++i) sql += kMigrations[i];
  sql += fmt::format("PRAGMA user_version = {}; COMMIT;", SchemaVersion());
  absl::Status status = database.Execute(sql);
  if (!status.ok()) (void)database.Execute("ROLLBACK");
  return status;
}

}  // namespace pyptox::store
