// The tables that people see, out of contract messages. Pure.
#ifndef PYPTOX_REPORTS_TABLES_H_
#define PYPTOX_REPORTS_TABLES_H_

#include <string>
#include <vector>

#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/matrix.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"
#include "reports/table.h"

namespace pyptox::reports {

// Suite, lane, standing, evidence, cases passed / skipped / planned, HEAD, record, reason.
Table MatrixTable(const v1::ShowMatrixResponse& response);
// `4 of 4 lanes and 308 of 308 cases are bit-exact`: lanes that stand PASS or PASS (limited), and their cases.
std::string MatrixSummary(const v1::ShowMatrixResponse& response);

Table JobsTable(const v1::ListJobsResponse& response);
Table AttemptsTable(const v1::GetJobResponse& response);
Table RecordsTable(const std::vector<v1::Record>& records);
Table ResourcesTable(const v1::ListResourcesResponse& response);
// Newest first, as the response has them.
Table ResourceOrdersTable(const v1::ListResourceOrdersResponse& response);
// The value last: that of CPU flags is longer than a line.
Table FactsTable(const v1::Resource& resource);
Table AgentsTable(const v1::ListAgentsResponse& response);
Table LocksTable(const v1::ListLocksResponse& response);
Table ArtifactsTable(const v1::ListArtifactsResponse& response);
Table QueryTable(const v1::QueryResponse& response);

// The cases of records that neither passed nor were skipped: job, lane, name, outcome, reason (with index and both hex
// values).
Table TroubleTable(const std::vector<v1::Record>& records);

// `2026-09-13T08:00:00Z`; empty for 0.
std::string IsoTime(int64_t unix_ns);

}  // namespace pyptox::reports

#endif  // PYPTOX_REPORTS_TABLES_H_
