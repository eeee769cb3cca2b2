// What the services read: committed state, never the loop's. The runtime implements it over the database.
#ifndef PYPTOX_CONTROLLER_RPC_READ_MODEL_H_
#define PYPTOX_CONTROLLER_RPC_READ_MODEL_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/matrix.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"
#include "pyptox/v1/server.pb.h"

namespace pyptox::controller {

// Thread safe. Errors are those of the services (NOT_FOUND) or INTERNAL with the database's words.
class ReadModel {
 public:
  virtual ~ReadModel() = default;
  virtual absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request) = 0;
  virtual absl::StatusOr<v1::GetJobResponse> GetJob(uint64_t job_id) = 0;
  virtual absl::StatusOr<v1::ListArtifactsResponse> ListArtifacts(uint64_t job_id) = 0;
  virtual absl::StatusOr<v1::ListAgentsResponse> ListAgents() = 0;
  virtual absl::StatusOr<v1::ListResourcesResponse> ListResources() = 0;
  virtual absl::StatusOr<v1::ListResourceOrdersResponse> ListResourceOrders(
      const v1::ListResourceOrdersRequest& request) = 0;
  virtual absl::StatusOr<v1::ListLocksResponse> ListLocks() = 0;
  virtual absl::StatusOr<v1::ListRecordsResponse> ListRecords(const v1::ListRecordsRequest& request) = 0;
  virtual absl::StatusOr<v1::StoredRecord> GetRecord(uint64_t record_id) = 0;
  // Cells by suite and lane; an empty suite means all.
  virtual absl::StatusOr<v1::ShowMatrixResponse> ShowMatrix(const std::string& suite) = 0;
  virtual absl::StatusOr<v1::ServerInfo> GetServerInfo() = 0;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_READ_MODEL_H_
