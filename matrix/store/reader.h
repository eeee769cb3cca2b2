// Read-only access for services: a connection of its own that sees committed state and never checkpoints.
#ifndef PYPTOX_MATRIX_STORE_READER_H_
#define PYPTOX_MATRIX_STORE_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sha256.h"
#include "matrix/record_seal.h"
#include "matrix/store/sqlite.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/matrix.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"
#include "pyptox/v1/server.pb.h"

namespace pyptox::store {

// Thread safe; calls take turns, and none keeps a read transaction open past its return. NOT_FOUND names what is
// missing.
class Reader {
 public:
  // The database was made by a Store. `vfs` is for tests.
  static absl::StatusOr<std::unique_ptr<Reader>> Open(const std::string& path, const char* vfs = nullptr);

  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::GetJobResponse> GetJob(uint64_t job_id);
  absl::StatusOr<v1::JobSpec> GetSpec(uint64_t job_id);
  absl::StatusOr<v1::ListArtifactsResponse> ListArtifacts(uint64_t job_id);
  absl::StatusOr<v1::ListAgentsResponse> ListAgents();
  absl::StatusOr<v1::ListResourcesResponse> ListResources();
  absl::StatusOr<v1::ListResourceOrdersResponse> ListResourceOrders(const v1::ListResourceOrdersRequest& request);
  absl::StatusOr<v1::ListLocksResponse> ListLocks();
  absl::StatusOr<v1::ListRecordsResponse> ListRecords(const v1::ListRecordsRequest& request);
  // DATA_LOSS when the rows that stand beside it, which the matrix is made of, are not what it says.
  absl::StatusOr<v1::StoredRecord> GetRecord(uint64_t record_id);
  // Cells by suite and lane; an empty suite means all.
  absl::StatusOr<v1::ShowMatrixResponse> ShowMatrix(const std::string& suite);
  // Everything but version and uptime, which are the process's.
  absl::StatusOr<v1::ServerInfo> GetServerInfo();
  // Digests that something reachable names: trees of job specs, artifacts of records and of orphans.
  absl::StatusOr<std::set<Digest>> ReachableDigests();
  // Walks all records in order (matrix::ChainVerifier), compares the rows that stand beside them, and looks for the
  // record of each job. DATA_LOSS names the first fault.
  absl::Status VerifyChain(std::optional<matrix::Checkpoint> checkpoint = std::nullopt);

 private:
  explicit Reader(Database database) : database_(std::move(database)) {}
  // Calls `row` for every row, in pages: `sql` takes the last value of its first column and how many rows it may give.
  absl::Status ForEachRow(std::string_view sql, const std::function<absl::Status(Statement&)>& row);
  // Records are never removed: without a checkpoint too, one that a job still names shows that the end was cut.
  absl::Status VerifyJobs();

  std::mutex mutex_;
  Database database_;
};

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_READER_H_
