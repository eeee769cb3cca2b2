#include "matrix/store/reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "matrix/store/record_rows.h"
#include "matrix/store/schema.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::store {
namespace {

constexpr uint32_t kDefaultLimit = 100;
constexpr uint32_t kMaxLimit = 1000;
// Rows that one read transaction of a long walk sees: none keeps the log of the database from being checkpointed.
constexpr int64_t kPageRows = 64;
// A page of records stays well below one message.
constexpr size_t kMaxRecordBytes = 3 << 20;

uint32_t LimitOf(uint32_t asked) { return asked == 0 ? kDefaultLimit : std::min(asked, kMaxLimit); }

// Adds one message a row out of column 0.
template <typename Message>
absl::Status AddAll(Statement statement, google::protobuf::RepeatedPtrField<Message>* into) {
  while (statement.Step()) statement.ReadMessage(0, into->Add());
  return statement.status();
}

// Takes the response by reference: as a value it could be moved away before the call that fills it is made, since
// arguments are evaluated in any order.
template <typename Response>
absl::StatusOr<Response> Answer(absl::Status status, Response& response) {
  if (!status.ok()) return status;
  return std::move(response);
}

v1::StoredRecord StoredAt(const Statement& statement) {
  v1::StoredRecord stored;
  stored.set_id(statement.Unsigned(0));
  stored.set_sha256(statement.Text(1));
  stored.set_json(statement.Text(2));
  return stored;
}

v1::EvidenceClass EvidenceClassOf(std::string word) {
  for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  v1::EvidenceClass value = v1::EVIDENCE_CLASS_UNSPECIFIED;
  v1::EvidenceClass_Parse("EVIDENCE_CLASS_" + word, &value);
  return value;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> Reader::Open(const std::string& path, const char* vfs) {
  absl::StatusOr<Database> database = Database::Open(path, SQLITE_OPEN_READONLY, vfs);
  if (!database.ok()) return database.status();
  sqlite3_db_config(database->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (absl::Status status = database->Execute("PRAGMA query_only = ON"); !status.ok()) return status;
  return std::unique_ptr<Reader>(new Reader(*std::move(database)));
}

absl::StatusOr<v1::ListJobsResponse> Reader::ListJobs(const v1::ListJobsRequest& request) {
  const std::lock_guard lock(mutex_);
  v1::ListJobsResponse response;
  Statement statement = database_.Prepare(
      "SELECT body FROM t_job WHERE (?1 = 0 OR submission_id = ?1) AND (?2 = 0 OR state <> 'DONE') ORDER BY id DESC "
      "LIMIT ?3");
  statement.Bind(request.submission_id()).Bind(request.active()).Bind(LimitOf(request.limit()));
  return Answer(AddAll(std::move(statement), response.mutable_jobs()), response);
}

absl::StatusOr<v1::GetJobResponse> Reader::GetJob(uint64_t job_id) {
  const std::lock_guard lock(mutex_);
  v1::GetJobResponse response;
  Statement job = database_.Prepare("SELECT body FROM t_job WHERE id = ?");
  job.Bind(job_id);
  if (!job.Step())
    return job.status().ok() ? absl::NotFoundError(fmt::format("there is no job {}", job_id)) : job.status();
  job.ReadMessage(0, response.mutable_job());
  if (!job.status().ok()) return job.status();
  Statement attempts = database_.Prepare("SELECT body FROM t_attempt WHERE job_id = ? ORDER BY number");
  attempts.Bind(job_id);
  return Answer(AddAll(std::move(attempts), response.mutable_attempts()), response);
}

absl::StatusOr<v1::JobSpec> Reader::GetSpec(uint64_t job_id) {
  const std::lock_guard lock(mutex_);
  Statement statement =
      database_.Prepare("SELECT s.body FROM t_job_spec js JOIN t_spec s ON s.id = js.spec_id WHERE js.job_id = ?");
  statement.Bind(job_id);
  if (!statement.Step()) {
    return statement.status().ok() ? absl::NotFoundError(fmt::format("there is no job {}", job_id))
                                   : statement.status();
  }
  v1::JobSpec spec;
  statement.ReadMessage(0, &spec);
  return Answer(statement.status(), spec);
}

absl::StatusOr<v1::ListArtifactsResponse> Reader::ListArtifacts(uint64_t job_id) {
  const std::lock_guard lock(mutex_);
  Statement known = database_.Prepare("SELECT 1 FROM t_job WHERE id = ?");
  known.Bind(job_id);
  if (!known.Step()) {
    return known.status().ok() ? absl::NotFoundError(fmt::format("there is no job {}", job_id)) : known.status();
  }
  v1::ListArtifactsResponse response;
  Statement statement = database_.Prepare(
      "SELECT r.attempt_id, a.name, a.size, a.sha256, a.executable FROM t_record r JOIN t_artifact a "
      "ON a.record_id = r.id WHERE r.job_id = ? ORDER BY r.attempt_id, a.name");
  statement.Bind(job_id);
  while (statement.Step()) {
    v1::NamedArtifact* artifact = response.add_artifacts();
    artifact->set_attempt_id(statement.Unsigned(0));
    artifact->mutable_file()->set_name(statement.Text(1));
    artifact->mutable_file()->set_size(statement.Unsigned(2));
    artifact->mutable_file()->set_sha256(statement.Text(3));
    artifact->mutable_file()->set_executable(statement.Integer(4) != 0);
  }
  return Answer(statement.status(), response);
}

absl::StatusOr<v1::ListAgentsResponse> Reader::ListAgents() {
  const std::lock_guard lock(mutex_);
  v1::ListAgentsResponse response;
  return Answer(AddAll(database_.Prepare("SELECT body FROM t_agent ORDER BY name"), response.mutable_agents()),
                response);
}

absl::StatusOr<v1::ListResourcesResponse> Reader::ListResources() {
  const std::lock_guard lock(mutex_);
  v1::ListResourcesResponse response;
  return Answer(AddAll(database_.Prepare("SELECT body FROM t_resource ORDER BY name"), response.mutable_resources()),
                response);
}

absl::StatusOr<v1::ListResourceOrdersResponse> Reader::ListResourceOrders(
    const v1::ListResourceOrdersRequest& request) {
  const std::lock_guard lock(mutex_);
  v1::ListResourceOrdersResponse response;
  Statement statement =
      database_.Prepare("SELECT body FROM t_resource_order WHERE (?1 = '' OR resource = ?1) ORDER BY id DESC LIMIT ?2");
  statement.Bind(request.name()).Bind(LimitOf(request.limit()));
  return Answer(AddAll(std::move(statement), response.mutable_orders()), response);
}

absl::StatusOr<v1::ListLocksResponse> Reader::ListLocks() {
  const std::lock_guard lock(mutex_);
  v1::ListLocksResponse response;
  return Answer(AddAll(database_.Prepare("SELECT body FROM t_lease ORDER BY key, token"), response.mutable_leases()),
                response);
}

absl::StatusOr<v1::ListRecordsResponse> Reader::ListRecords(const v1::ListRecordsRequest& request) {
  const std::lock_guard lock(mutex_);
  v1::ListRecordsResponse response;
  Statement statement = database_.Prepare(
      "SELECT id, sha256, json FROM t_record WHERE (?1 = '' OR suite = ?1) AND (?2 = '' OR lane = ?2) AND "
      "(?3 = 0 OR job_id = ?3) AND (?4 = 0 OR id < ?4) ORDER BY id DESC LIMIT ?5");
  statement.Bind(request.suite()).Bind(request.lane()).Bind(request.job_id()).Bind(request.before_id());
  statement.Bind(LimitOf(request.limit()));
  size_t bytes = 0;
  while (statement.Step()) {
    v1::StoredRecord stored = StoredAt(statement);
    bytes += stored.json().size();
    // A shorter page than asked for: the caller goes on with before_id.
    if (response.records_size() > 0 && bytes > kMaxRecordBytes) break;
    *response.add_records() = std::move(stored);
  }
  return Answer(statement.status(), response);
}

absl::StatusOr<v1::StoredRecord> Reader::GetRecord(uint64_t record_id) {
  const std::lock_guard lock(mutex_);
  Statement statement = database_.Prepare("SELECT id, sha256, json FROM t_record WHERE id = ?");
  statement.Bind(record_id);
  if (!statement.Step()) {
    if (!statement.status().ok()) return statement.status();
    return absl::NotFoundError(fmt::format("there is no record {}", record_id));
  }
  const v1::StoredRecord stored = StoredAt(statement);
  absl::StatusOr<v1::Record> record = matrix::ReadRecord(stored.json(), fmt::format("record {}", record_id));
  if (!record.ok()) return absl::DataLossError(record.status().message());
  if (absl::Status status = CompareRows(database_, record_id, RowsOf(*record, stored.sha256())); !status.ok()) {
    return status;
  }
  return stored;
}

absl::StatusOr<v1::ShowMatrixResponse> Reader::ShowMatrix(const std::string& suite) {
  const std::lock_guard lock(mutex_);
  v1::ShowMatrixResponse response;
  Statement statement = database_.Prepare(
      "SELECT m.suite, m.lane, m.target, m.resource, m.standing, m.reason, m.evidence_class, m.cases_planned, "
      "m.cases_passed, "
      "m.cases_failed, m.cases_skipped, m.cases_other, m.head, ifnull(m.record_id, 0), ifnull(r.recorded_at_ns, 0) "
      "FROM matrix m LEFT JOIN t_record r ON r.id = m.record_id WHERE (?1 = '' OR m.suite = ?1) ORDER BY m.suite, "
      "m.lane");
  statement.Bind(suite);
  while (statement.Step()) {
    v1::Cell* cell = response.add_cells();
    cell->set_suite(statement.Text(0));
    cell->set_lane(statement.Text(1));
    cell->set_target(statement.Text(2));
    cell->set_resource(statement.Text(3));
    cell->set_standing(statement.Text(4));
    cell->set_reason(statement.Text(5));
    cell->set_evidence_class(EvidenceClassOf(statement.Text(6)));
    cell->set_head(statement.Text(12));
    cell->set_record_id(statement.Unsigned(13));
    cell->set_recorded_at_ns(statement.Integer(14));
    if (cell->record_id() == 0) continue;  // Nothing was counted.
    v1::CaseCounts& counts = *cell->mutable_counts();
    counts.set_planned(static_cast<uint32_t>(statement.Integer(7)));
    counts.set_passed(static_cast<uint32_t>(statement.Integer(8)));
    counts.set_failed(static_cast<uint32_t>(statement.Integer(9)));
    counts.set_skipped(static_cast<uint32_t>(statement.Integer(10)));
    counts.set_other(static_cast<uint32_t>(statement.Integer(11)));
  }
  return Answer(statement.status(), response);
}

absl::StatusOr<v1::ServerInfo> Reader::GetServerInfo() {
  const std::lock_guard lock(mutex_);
  Statement statement = database_.Prepare(
      "SELECT (SELECT value FROM t_meta WHERE key = 'database_id'), "
      "(SELECT count(*) FROM t_job WHERE state = 'QUEUED'), "
      "(SELECT count(*) FROM t_job WHERE state IN ('RUNNING', 'CANCELLING')), "
      "ifnull((SELECT max(id) FROM t_record), 0), "
      "ifnull((SELECT sha256 FROM t_record ORDER BY id DESC LIMIT 1), '')");
  if (!statement.Step()) return statement.status();
  v1::ServerInfo info;
  info.set_schema_version(SchemaVersion());
  info.set_database_id(statement.Text(0));
  info.set_jobs_queued(statement.Unsigned(1));
  info.set_jobs_running(statement.Unsigned(2));
  info.set_records(statement.Unsigned(3));
  info.set_head_sha256(info.records() == 0 ? matrix::kNoRecord : statement.Text(4));
  return info;
}

absl::Status Reader::ForEachRow(std::string_view sql, const std::function<absl::Status(Statement&)>& row) {
  int64_t after = 0;
  while (true) {
    const std::lock_guard lock(mutex_);
    Statement statement = database_.Prepare(sql);
    statement.Bind(after).Bind(kPageRows);
    int64_t rows = 0;
    for (; statement.Step(); ++rows) {
      after = statement.Integer(0);
      if (absl::Status status = row(statement); !status.ok()) return status;
    }
    if (!statement.status().ok() || rows < kPageRows) return statement.status();
  }
}

absl::StatusOr<std::set<Digest>> Reader::ReachableDigests() {
  std::set<Digest> digests;
  const auto add_tree = [&](const google::protobuf::RepeatedPtrField<v1::FileEntry>& files) {
    for (const v1::FileEntry& file : files) {
      // Digests were checked when they came in.
      if (absl::StatusOr<Digest> digest = Digest::FromHex(file.sha256()); digest.ok()) digests.insert(*digest);
    }
  };
  absl::Status status =
      ForEachRow("SELECT id, body FROM t_spec WHERE id > ? ORDER BY id LIMIT ?", [&](Statement& statement) {
        v1::JobSpec spec;
        statement.ReadMessage(1, &spec);
        add_tree(spec.tree().files());
        return statement.status();
      });
  if (!status.ok()) return status;
  status = ForEachRow("SELECT attempt_id, body FROM t_orphan WHERE attempt_id > ? ORDER BY attempt_id LIMIT ?",
                      [&](Statement& statement) {
                        v1::AttemptFinished finished;
                        statement.ReadMessage(1, &finished);
                        add_tree(finished.evidence().artifacts());
                        return statement.status();
                      });
  if (!status.ok()) return status;
  const std::lock_guard lock(mutex_);
  Statement artifacts = database_.Prepare("SELECT DISTINCT sha256 FROM t_artifact");
  while (artifacts.Step()) {
    if (absl::StatusOr<Digest> digest = Digest::FromHex(artifacts.Text(0)); digest.ok()) digests.insert(*digest);
  }
  return Answer(artifacts.status(), digests);
}

absl::Status Reader::VerifyChain(std::optional<matrix::Checkpoint> checkpoint) {
  matrix::ChainVerifier verifier(matrix::ChainVerifier::Extent::kWhole, std::move(checkpoint));
  absl::Status status = ForEachRow("SELECT id, sha256, json FROM t_record WHERE id > ? ORDER BY id LIMIT ?",
                                   [&](Statement& statement) -> absl::Status {
                                     const v1::StoredRecord stored = StoredAt(statement);
                                     const absl::StatusOr<v1::Record> record = verifier.Next(stored);
                                     if (!record.ok()) return record.status();
                                     return CompareRows(database_, stored.id(), RowsOf(*record, stored.sha256()));
                                   });
  if (status.ok()) status = verifier.Finish();
  return status.ok() ? VerifyJobs() : status;
}

absl::Status Reader::VerifyJobs() {
  const std::lock_guard lock(mutex_);
  Statement statement = database_.Prepare(
      "SELECT j.id, j.record_id FROM t_job j LEFT JOIN t_record r ON r.id = j.record_id "
      "WHERE j.record_id <> 0 AND r.job_id IS NOT j.id ORDER BY j.id LIMIT 1");
  if (!statement.Step()) return statement.status();
  return absl::DataLossError(fmt::format("job {}: its record {} is not there or another job's: the chain was cut",
                                         statement.Unsigned(0), statement.Unsigned(1)));
}

}  // namespace pyptox::store
