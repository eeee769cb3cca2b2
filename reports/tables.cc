#include "reports/tables.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "matrix/verdict.h"

namespace pyptox::reports {
namespace {

// As many digits as `git log --oneline` shows at least; the whole hash is in the JSON.
std::string ShortHead(const std::string& head) { return head.substr(0, 12); }

std::string WordOf(const google::protobuf::EnumDescriptor* type, int number) {
  const auto* value = type->FindValueByNumber(number);
  const std::string& zero = type->FindValueByNumber(0)->name();
  return value == nullptr ? fmt::format("{}", number) : value->name().substr(zero.size() - 11);
}

template <typename Enum>
std::string Word(Enum value) {
  return WordOf(google::protobuf::GetEnumDescriptor<Enum>(), static_cast<int>(value));
}

std::string OutcomeOrDash(const v1::Outcome& outcome) {
  return outcome.verdict() == v1::VERDICT_UNSPECIFIED ? "-" : matrix::OutcomeWord(outcome);
}

bool StandsAsPass(const v1::Cell& cell) { return cell.standing() == "PASS" || cell.standing() == "PASS (limited)"; }

std::string ProgressText(const v1::Job& job) {
  if (job.state() != v1::JOB_STATE_RUNNING || job.progress().step().empty()) return job.outcome().reason();
  return fmt::format("{} ({}/{} cases)", job.progress().step(), job.progress().cases_done(),
                     job.progress().cases_total());
}

std::string QueryText(const v1::QueryValue& value) {
  switch (value.value_case()) {
    case v1::QueryValue::kInteger:
      return fmt::format("{}", value.integer());
    case v1::QueryValue::kReal:
      return fmt::format("{}", value.real());
    case v1::QueryValue::kText:
      return value.text();
    case v1::QueryValue::kBlob:
      return fmt::format("blob of {} bytes, SHA-256 {}", value.blob().size(), Sha256Of(value.blob()).Hex());
    case v1::QueryValue::VALUE_NOT_SET:
      return "";
  }
  return "";
}

}  // namespace

std::string IsoTime(int64_t unix_ns) {
  if (unix_ns == 0) return "";
  const time_t seconds = unix_ns / 1'000'000'000;
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Table MatrixTable(const v1::ShowMatrixResponse& response) {
  Table table{{"SUITE", "LANE", "STANDING", "EVIDENCE", "PASSED/SKIPPED/PLANNED", "HEAD", "RECORD", "REASON"}, {}};
  for (const v1::Cell& cell : response.cells()) {
    const v1::CaseCounts& counts = cell.counts();
    table.rows.push_back({cell.suite(), cell.lane(), cell.standing(), matrix::EvidenceClassWord(cell.evidence_class()),
                          fmt::format("{}/{}/{}", counts.passed(), counts.skipped(), counts.planned()),
                          ShortHead(cell.head()), cell.record_id() == 0 ? "" : fmt::format("{}", cell.record_id()),
                          cell.reason()});
  }
  return table;
}

std::string MatrixSummary(const v1::ShowMatrixResponse& response) {
  int lanes = 0;
  uint32_t passed = 0;
  uint32_t planned = 0;
  for (const v1::Cell& cell : response.cells()) {
    planned += cell.counts().planned();
    if (!StandsAsPass(cell)) continue;
    ++lanes;
    passed += cell.counts().passed();
  }
  return fmt::format("{} of {} lanes and {} of {} cases are bit-exact", lanes, response.cells_size(), passed, planned);
}

Table JobsTable(const v1::ListJobsResponse& response) {
  Table table{{"JOB", "SUITE", "LANE", "STATE", "OUTCOME", "ATTEMPTS", "PRIORITY", "RECORD", "SUBMITTED", "DETAIL"},
              {}};
  for (const v1::Job& job : response.jobs()) {
    table.rows.push_back({fmt::format("{}", job.id()), job.suite(), job.lane(), Word(job.state()),
                          OutcomeOrDash(job.outcome()), fmt::format("{}", job.attempts()),
                          fmt::format("{}", job.priority()),
                          job.record_id() == 0 ? "-" : fmt::format("{}", job.record_id()),
                          IsoTime(job.submitted_at_ns()), ProgressText(job)});
  }
  return table;
}

Table AttemptsTable(const v1::GetJobResponse& response) {
  Table table{{"ATTEMPT", "NUMBER", "AGENT", "RESOURCE", "STATE", "OUTCOME", "LOCKS", "ASSIGNED", "ENDED", "REASON"},
              {}};
  for (const v1::Attempt& attempt : response.attempts()) {
    std::string locks;
    for (const v1::HeldLock& lock : attempt.locks()) locks += fmt::format("{}#{} ", lock.key(), lock.token());
    table.rows.push_back({fmt::format("{}", attempt.id()), fmt::format("{}", attempt.number()), attempt.agent(),
                          attempt.resource(), Word(attempt.state()), OutcomeOrDash(attempt.outcome()),
                          locks.substr(0, locks.empty() ? 0 : locks.size() - 1), IsoTime(attempt.assigned_at_ns()),
                          IsoTime(attempt.ended_at_ns()), attempt.outcome().reason()});
  }
  return table;
}

Table RecordsTable(const std::vector<v1::Record>& records) {
  Table table{{"RECORD", "SUITE", "LANE", "OUTCOME", "EVIDENCE", "PASSED/SKIPPED/PLANNED", "HEAD", "JOB", "RECORDED",
               "NOT ADMITTED", "REASON"},
              {}};
  for (const v1::Record& record : records) {
    const v1::CaseCounts& counts = record.counts();
    table.rows.push_back({fmt::format("{}", record.id()), record.suite(), record.lane(),
                          OutcomeOrDash(record.outcome()),
                          matrix::EvidenceClassWord(record.evidence().evidence_class()),
                          fmt::format("{}/{}/{}", counts.passed(), counts.skipped(), counts.planned()),
                          ShortHead(record.source().head()), fmt::format("{}", record.job_id()),
                          IsoTime(record.recorded_at_ns()), record.not_admitted(), record.outcome().reason()});
  }
  return table;
}

Table ResourcesTable(const v1::ListResourcesResponse& response) {
  Table table{{"RESOURCE", "BACKEND", "AGENT", "STATE", "HEALTH", "HELD BY", "REASON"}, {}};
  for (const v1::Resource& resource : response.resources()) {
    const std::string holder = resource.holder_job_id() == 0 ? "" : fmt::format("job {}", resource.holder_job_id());
    table.rows.push_back({resource.name(), resource.backend(), resource.agent(), Word(resource.state()),
                          Word(resource.health()), holder, resource.reason()});
  }
  return table;
}

Table ResourceOrdersTable(const v1::ListResourceOrdersResponse& response) {
  Table table{{"ORDER", "RESOURCE", "STATE", "BY", "AT", "UNTIL", "REASON"}, {}};
  for (const v1::ResourceOrder& order : response.orders()) {
    table.rows.push_back({fmt::format("{}", order.id()), order.resource(), Word(order.state()), order.person(),
                          IsoTime(order.at_ns()), order.until(), order.reason()});
  }
  return table;
}

Table FactsTable(const v1::Resource& resource) {
  Table table{{"FACT", "OBSERVER", "METHOD", "OBSERVED", "VALUE"}, {}};
  for (const v1::Fact& fact : resource.facts()) {
    table.rows.push_back({fact.key(), fact.observer(), fact.method(), IsoTime(fact.observed_at_ns()), fact.value()});
  }
  return table;
}

Table AgentsTable(const v1::ListAgentsResponse& response) {
  Table table{{"AGENT", "CONNECTED", "EPOCH", "VERSION", "CLOCK OFFSET MS", "CHANGED"}, {}};
  for (const v1::Agent& agent : response.agents()) {
    table.rows.push_back({agent.name(), agent.connected() ? "yes" : "no", fmt::format("{}", agent.epoch()),
                          agent.version(), fmt::format("{}", agent.clock_offset_ns() / 1'000'000),
                          IsoTime(agent.changed_at_ns())});
  }
  return table;
}

Table LocksTable(const v1::ListLocksResponse& response) {
  Table table{{"LOCK", "MODE", "UNITS", "ATTEMPT", "TOKEN", "GRANTED"}, {}};
  for (const v1::Lease& lease : response.leases()) {
    table.rows.push_back({lease.key(), Word(lease.mode()), fmt::format("{}", lease.units()),
                          fmt::format("{}", lease.attempt_id()), fmt::format("{}", lease.token()),
                          IsoTime(lease.granted_at_ns())});
  }
  return table;
}

Table ArtifactsTable(const v1::ListArtifactsResponse& response) {
  Table table{{"ATTEMPT", "NAME", "SIZE", "SHA-256"}, {}};
  for (const v1::NamedArtifact& artifact : response.artifacts()) {
    table.rows.push_back({fmt::format("{}", artifact.attempt_id()), artifact.file().name(),
                          fmt::format("{}", artifact.file().size()), artifact.file().sha256()});
  }
  return table;
}

Table QueryTable(const v1::QueryResponse& response) {
  Table table;
  table.columns.assign(response.columns().begin(), response.columns().end());
  for (const v1::QueryRow& row : response.rows()) {
    table.rows.emplace_back();
    for (const v1::QueryValue& value : row.values()) table.rows.back().push_back(QueryText(value));
  }
  return table;
}

Table TroubleTable(const std::vector<v1::Record>& records) {
  Table table{{"JOB", "LANE", "CASE", "OUTCOME", "REASON"}, {}};
  for (const v1::Record& record : records) {
    for (const v1::CaseResult& result : record.evidence().cases()) {
      if (result.outcome() == v1::CASE_OUTCOME_PASS || result.outcome() == v1::CASE_OUTCOME_SKIPPED) continue;
      table.rows.push_back({fmt::format("{}", record.job_id()), record.lane(), result.name(),
                            matrix::CaseOutcomeWord(result.outcome()), result.reason()});
    }
  }
  return table;
}

}  // namespace pyptox::reports
