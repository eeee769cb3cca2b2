// Store::Transaction::PutRecord: a record with the rows that views read out of it.
#include <fmt/format.h>

#include "matrix/record_seal.h"
#include "matrix/store/store.h"
#include "matrix/store/words.h"
#include "matrix/verdict.h"

namespace pyptox::store {
namespace {

absl::Status CheckPlace(const Database& database, const v1::Record& record) {
  Statement last = database.Prepare("SELECT id, sha256 FROM t_record ORDER BY id DESC LIMIT 1");
  const bool any = last.Step();
  if (!last.status().ok()) return last.status();
  const uint64_t due = any ? last.Unsigned(0) + 1 : 1;
  const std::string previous = any ? last.Text(1) : matrix::kNoRecord;
  if (record.id() == due && record.previous_sha256() == previous) return absl::OkStatus();
  return absl::FailedPreconditionError(fmt::format("record {} after {} is not the next of the chain, {} after {}",
                                                   record.id(), record.previous_sha256(), due, previous));
}

}  // namespace

void Store::Transaction::PutRecord(const v1::Record& record, const v1::StoredRecord& stored) {
  if (!status_.ok()) return;
  Note(CheckPlace(store_->database_, record));
  const v1::CaseCounts& counts = record.counts();
  // The unique index on attempt_id refuses a second record of one attempt. 0 means that no attempt was made.
  Note(Prepare("INSERT INTO t_record VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, "
               "?, ?, "
               "?, ?, ?, ?, ?, ?, ?, ?, ?)")
           .Bind(stored.id())
           .Bind(stored.sha256())
           .Bind(record.previous_sha256())
           .Bind(record.suite())
           .Bind(record.contract().name())
           .Bind(record.contract().version())
           .Bind(record.suite_sha256())
           .Bind(record.golden_sha256())
           .Bind(record.lane())
           .Bind(record.target())
           .Bind(record.resource())
           .Bind(record.agent())
           .Bind(record.job_id())
           .Bind(record.attempt_id())
           .Bind(WordOf(record.outcome().verdict()))
           .Bind(OutcomeOrEmpty(record.outcome()))
           .Bind(record.outcome().reason())
           .Bind(matrix::EvidenceClassWord(record.evidence().evidence_class()))
           .Bind(counts.planned())
           .Bind(counts.passed())
           .Bind(counts.failed())
           .Bind(counts.skipped())
           .Bind(counts.other())
           .Bind(NotCoveredLine(record.evidence()))
           .Bind(record.source().head())
           .Bind(record.source().dirty())
           .Bind(record.source().tree_sha256())
           .Bind(record.partial())
           .Bind(record.not_admitted())
           .Bind(record.submitter())
           .Bind(record.recorded_at_ns())
           .BindBlob(stored.json())
           .Run());
  int64_t position = 0;
  for (const v1::CaseResult& result : record.evidence().cases()) {
    Note(Prepare("INSERT INTO t_case (record_id, position, name, outcome, reason) VALUES (?, ?, ?, ?, ?)")
             .Bind(stored.id())
             .Bind(position++)
             .Bind(result.name())
             .Bind(matrix::CaseOutcomeWord(result.outcome()))
             .Bind(result.reason())
             .Run());
  }
  for (const v1::FileEntry& file : record.evidence().artifacts()) {
    Note(Prepare("INSERT INTO t_artifact (record_id, name, attempt_id, job_id, size, sha256, executable) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?)")
             .Bind(stored.id())
             .Bind(file.name())
             .Bind(record.attempt_id())
             .Bind(record.job_id())
             .Bind(file.size())
             .Bind(file.sha256())
             .Bind(file.executable())
             .Run());
  }
}

}  // namespace pyptox::store
