// The services' reads, answered by the database.
#ifndef PYPTOX_CONTROLLER_RUNTIME_STORE_READS_H_
#define PYPTOX_CONTROLLER_RUNTIME_STORE_READS_H_

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/time_types.h"
#include "controller/rpc/read_model.h"
#include "matrix/store/reader.h"

namespace pyptox::controller {

// Thread safe. A few connections, taken in turn, so that one slow reading does not hold up all the others.
class StoreReads final : public ReadModel {
 public:
  static absl::StatusOr<std::unique_ptr<StoreReads>> Open(const std::string& database);

  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request) override;
  absl::StatusOr<v1::GetJobResponse> GetJob(uint64_t job_id) override;
  absl::StatusOr<v1::ListArtifactsResponse> ListArtifacts(uint64_t job_id) override;
  absl::StatusOr<v1::ListAgentsResponse> ListAgents() override;
  absl::StatusOr<v1::ListResourcesResponse> ListResources() override;
  absl::StatusOr<v1::ListResourceOrdersResponse> ListResourceOrders(
      const v1::ListResourceOrdersRequest& request) override;
  absl::StatusOr<v1::ListLocksResponse> ListLocks() override;
  absl::StatusOr<v1::ListRecordsResponse> ListRecords(const v1::ListRecordsRequest& request) override;
  absl::StatusOr<v1::StoredRecord> GetRecord(uint64_t record_id) override;
  absl::StatusOr<v1::ShowMatrixResponse> ShowMatrix(const std::string& suite) override;
  // With this process's version and the seconds since Open.
  absl::StatusOr<v1::ServerInfo> GetServerInfo() override;

  // One of the connections, for what no service asks.
  store::Reader& Next() { return *readers_[turn_++ % readers_.size()]; }

 private:
  StoreReads() : started_(ReadClocks().mono) {}

  const MonoTime started_;
  std::array<std::unique_ptr<store::Reader>, 4> readers_;
  std::atomic<size_t> turn_ = 0;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_STORE_READS_H_
