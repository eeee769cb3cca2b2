// The writes of Store::Transaction.
#include <fmt/format.h>

#include <utility>

#include "base/sha256.h"
#include "matrix/record_seal.h"
#include "matrix/store/record_rows.h"
#include "matrix/store/store.h"
#include "matrix/store/words.h"
#include "nlohmann/json.hpp"

namespace pyptox::store {

Store::Transaction::Transaction(Store* store) : store_(store), status_(store->failure_) {
  if (status_.ok()) Note(store_->database_.Execute("BEGIN IMMEDIATE"));
}

Store::Transaction::Transaction(Transaction&& other) noexcept
    : store_(std::exchange(other.store_, nullptr)), status_(std::move(other.status_)) {}

Store::Transaction::~Transaction() {
  if (store_ != nullptr && sqlite3_get_autocommit(store_->database_.handle()) == 0) {
    (void)store_->database_.Execute("ROLLBACK");
  }
}

// After an error there may be no transaction any more: a statement that ran now would commit by itself.
Statement Store::Transaction::Prepare(std::string_view sql) const {
  return status_.ok() ? store_->database_.Prepare(sql) : Statement(status_);
}

void Store::Transaction::Note(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

absl::Status Store::Transaction::Commit() {
  if (status_.ok()) Note(store_->database_.Execute("COMMIT"));
  // Whatever went wrong, what the controller believes and what the disk holds may differ now: no later write may build
  // on it.
  if (!status_.ok() && store_->failure_.ok()) store_->failure_ = status_;
  return status_;
}

void Store::Transaction::PutCounter(std::string_view name, uint64_t value) {
  Note(Prepare("INSERT OR REPLACE INTO t_counter (name, value) VALUES (?, ?)").Bind(name).Bind(value).Run());
}

void Store::Transaction::PutJob(const v1::Job& job) {
  Note(
      Prepare(
          "INSERT INTO t_job (id, submission_id, suite, lane, target, resource, priority, submitter, state, outcome, "
          "reason, attempts, record_id, head, dirty, tree_sha256, submitted_at_ns, ended_at_ns, body) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
          "state = excluded.state, outcome = excluded.outcome, reason = excluded.reason, attempts = excluded.attempts, "
          "record_id = excluded.record_id, ended_at_ns = excluded.ended_at_ns, body = excluded.body")
          .Bind(job.id())
          .Bind(job.submission_id())
          .Bind(job.suite())
          .Bind(job.lane())
          .Bind(job.target())
          .Bind(job.resource())
          .Bind(job.priority())
          .Bind(job.submitter())
          .Bind(WordOf(job.state()))
          .Bind(OutcomeOrEmpty(job.outcome()))
          .Bind(job.outcome().reason())
          .Bind(job.attempts())
          .Bind(job.record_id())
          .Bind(job.head())
          .Bind(job.dirty())
          .Bind(job.tree_sha256())
          .Bind(job.submitted_at_ns())
          .Bind(job.ended_at_ns())
          .BindMessage(job)
          .Run());
}

void Store::Transaction::PutJobSpec(uint64_t job_id, const v1::JobSpec& spec) {
  const std::string body = spec.SerializeAsString();
  const std::string sha256 = Sha256Of(body).Hex();
  Note(Prepare("INSERT INTO t_spec (sha256, body) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING")
           .Bind(sha256)
           .BindBlob(body)
           .Run());
  Note(Prepare("INSERT OR REPLACE INTO t_job_spec (job_id, spec_id) SELECT ?, id FROM t_spec WHERE sha256 = ?")
           .Bind(job_id)
           .Bind(sha256)
           .Run());
  for (const v1::Lane& lane : spec.suite().lanes()) {
    Note(Prepare("INSERT INTO t_lane (suite, lane, target, resource) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
                 "target = excluded.target, resource = excluded.resource")
             .Bind(spec.suite().name())
             .Bind(lane.name())
             .Bind(lane.target())
             .Bind(lane.resource().name())
             .Run());
  }
}

void Store::Transaction::PutAttempt(const v1::Attempt& attempt) {
  Note(Prepare("INSERT INTO t_attempt (id, job_id, number, agent, resource, state, outcome, reason, assigned_at_ns, "
               "ended_at_ns, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
               "state = excluded.state, outcome = excluded.outcome, reason = excluded.reason, "
               "ended_at_ns = excluded.ended_at_ns, body = excluded.body")
           .Bind(attempt.id())
           .Bind(attempt.job_id())
           .Bind(attempt.number())
           .Bind(attempt.agent())
           .Bind(attempt.resource())
           .Bind(WordOf(attempt.state()))
           .Bind(OutcomeOrEmpty(attempt.outcome()))
           .Bind(attempt.outcome().reason())
           .Bind(attempt.assigned_at_ns())
           .Bind(attempt.ended_at_ns())
           .BindMessage(attempt)
           .Run());
}

void Store::Transaction::PutLease(const v1::Lease& lease) {
  Note(Prepare("INSERT OR REPLACE INTO t_lease (key, attempt_id, mode, units, token, granted_at_ns, body) "
               "VALUES (?, ?, ?, ?, ?, ?, ?)")
           .Bind(lease.key())
           .Bind(lease.attempt_id())
           .Bind(WordOf(lease.mode()))
           .Bind(lease.units())
           .Bind(lease.token())
           .Bind(lease.granted_at_ns())
           .BindMessage(lease)
           .Run());
}

void Store::Transaction::DeleteLeases(uint64_t attempt_id) {
  Note(Prepare("DELETE FROM t_lease WHERE attempt_id = ?").Bind(attempt_id).Run());
}

void Store::Transaction::PutToken(std::string_view key, uint64_t token) {
  // A token never goes down, whatever a caller says.
  Note(Prepare("INSERT INTO t_token (key, token) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET "
               "token = max(token, excluded.token)")
           .Bind(key)
           .Bind(token)
           .Run());
}

void Store::Transaction::PutAgent(const v1::Agent& agent) {
  Note(
      Prepare("INSERT OR REPLACE INTO t_agent (name, body) VALUES (?, ?)").Bind(agent.name()).BindMessage(agent).Run());
}

void Store::Transaction::PutResource(const v1::Resource& resource) {
  Note(Prepare("INSERT OR REPLACE INTO t_resource (name, backend, agent, state, health, reason, holder_job_id, "
               "holder_attempt_id, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
           .Bind(resource.name())
           .Bind(resource.backend())
           .Bind(resource.agent())
           .Bind(WordOf(resource.state()))
           .Bind(WordOf(resource.health()))
           .Bind(resource.reason())
           .Bind(resource.holder_job_id())
           .Bind(resource.holder_attempt_id())
           .BindMessage(resource)
           .Run());
  PutFacts(resource);
}

void Store::Transaction::PutResourceOrder(const v1::ResourceOrder& order) {
  Note(Prepare("INSERT INTO t_resource_order (id, resource, state, reason, until, person, at_ns, body) "
               "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
           .Bind(order.id())
           .Bind(order.resource())
           .Bind(WordOf(order.state()))
           .Bind(order.reason())
           .Bind(order.until())
           .Bind(order.person())
           .Bind(order.at_ns())
           .BindMessage(order)
           .Run());
}

// The history keeps one row for each value that a fact had. Facts that are no longer observed are no longer current.
void Store::Transaction::PutFacts(const v1::Resource& resource) {
  nlohmann::json keys = nlohmann::json::array();
  for (const v1::Fact& fact : resource.facts()) keys.push_back(fact.key());
  Note(Prepare("UPDATE t_fact SET current = 0 WHERE resource = ? AND current = 1 AND key NOT IN "
               "(SELECT value FROM json_each(?))")
           .Bind(resource.name())
           .Bind(keys.dump())
           .Run());
  for (const v1::Fact& fact : resource.facts()) PutFact(resource.name(), fact);
}

void Store::Transaction::PutFact(const std::string& resource, const v1::Fact& fact) {
  Statement current = Prepare(
      "SELECT id, value, observer, method, confirmed_at_ns FROM t_fact "
      "WHERE resource = ? AND key = ? AND current = 1");
  current.Bind(resource).Bind(fact.key());
  const bool known = current.Step();
  Note(current.status());
  if (known && current.Text(1) == fact.value() && current.Text(2) == fact.observer() &&
      current.Text(3) == fact.method()) {
    if (current.Integer(4) == fact.observed_at_ns()) return;
    Note(Prepare("UPDATE t_fact SET confirmed_at_ns = ? WHERE id = ?")
             .Bind(fact.observed_at_ns())
             .Bind(current.Integer(0))
             .Run());
    return;
  }
  if (known) Note(Prepare("UPDATE t_fact SET current = 0 WHERE id = ?").Bind(current.Integer(0)).Run());
  Note(Prepare("INSERT INTO t_fact (resource, key, value, observer, method, observed_at_ns, confirmed_at_ns, current) "
               "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, 1)")
           .Bind(resource)
           .Bind(fact.key())
           .Bind(fact.value())
           .Bind(fact.observer())
           .Bind(fact.method())
           .Bind(fact.observed_at_ns())
           .Run());
}

void Store::Transaction::PutRecord(const v1::Record& record, const v1::StoredRecord& stored) {
  Statement last = Prepare("SELECT id, sha256 FROM t_record ORDER BY id DESC LIMIT 1");
  const bool any = last.Step();
  Note(last.status());
  const uint64_t due = any ? last.Unsigned(0) + 1 : 1;
  const std::string previous = any ? last.Text(1) : matrix::kNoRecord;
  if (stored.id() != due || record.id() != due || record.previous_sha256() != previous) {
    Note(absl::FailedPreconditionError(fmt::format("record {} after {} is not the next of the chain: {} after {}",
                                                   record.id(), record.previous_sha256(), due, previous)));
  }
  if (Sha256Of(stored.json()).Hex() != stored.sha256()) {
    Note(absl::FailedPreconditionError(fmt::format("record {} does not have its digest", stored.id())));
  }
  if (status_.ok()) Note(InsertRecord(store_->database_, RowsOf(record, stored.sha256()), stored.json()));
}

void Store::Transaction::PutOrphan(const v1::AttemptFinished& finished, std::string_view agent,
                                   std::string_view reason) {
  Note(Prepare("INSERT OR REPLACE INTO t_orphan (attempt_id, agent, reason, body) VALUES (?, ?, ?, ?)")
           .Bind(finished.attempt_id())
           .Bind(agent)
           .Bind(reason)
           .BindMessage(finished)
           .Run());
}

void Store::Transaction::PutIdempotency(std::string_view key, uint64_t submission_id) {
  Note(Prepare("INSERT OR REPLACE INTO t_idempotency (key, submission_id) VALUES (?, ?)")
           .Bind(key)
           .Bind(submission_id)
           .Run());
}

}  // namespace pyptox::store
