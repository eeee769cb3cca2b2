// The writes of Store::Transaction.
#include <fmt/format.h>

#include <algorithm>

#include "matrix/store/store.h"
#include "matrix/store/words.h"

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

Statement Store::Transaction::Prepare(std::string_view sql) const { return store_->database_.Prepare(sql); }

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
  Note(Prepare("INSERT OR REPLACE INTO t_job_spec (job_id, body) VALUES (?, ?)").Bind(job_id).BindMessage(spec).Run());
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
  Note(Prepare(
           "INSERT OR REPLACE INTO t_resource (name, backend, agent, state, reason, holder_job_id, holder_attempt_id, "
           "body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
           .Bind(resource.name())
           .Bind(resource.backend())
           .Bind(resource.agent())
           .Bind(WordOf(resource.state()))
           .Bind(resource.reason())
           .Bind(resource.holder_job_id())
           .Bind(resource.holder_attempt_id())
           .BindMessage(resource)
           .Run());
  for (const v1::Fact& fact : resource.facts()) {
    Note(Prepare(
             "INSERT INTO t_fact (resource, key, value, observer, method, observed_at_ns) "
             "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE ?3 IS NOT (SELECT value FROM t_fact WHERE resource = ?1 AND key = ?2 "
             "ORDER BY id DESC LIMIT 1)")
             .Bind(resource.name())
             .Bind(fact.key())
             .Bind(fact.value())
             .Bind(fact.observer())
             .Bind(fact.method())
             .Bind(fact.observed_at_ns())
             .Run());
  }
}

void Store::Transaction::PutOrphan(const v1::AttemptFinished& finished, std::string_view agent,
                                   std::string_view reason) {
  Note(Prepare("INSERT INTO t_orphan (attempt_id, agent, reason, body) VALUES (?, ?, ?, ?)")
           .Bind(finished.attempt_id())
           .Bind(agent)
           .Bind(reason)
           .BindMessage(finished)
           .Run());
}

void Store::Transaction::PutIdempotency(std::string_view key, uint64_t submission_id) {
  Note(Prepare("INSERT INTO t_idempotency (key, submission_id) VALUES (?, ?)").Bind(key).Bind(submission_id).Run());
}

}  // namespace pyptox::store
