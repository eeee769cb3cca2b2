#include "controller/runtime/store_reads.h"

#include <utility>

#include "base/version.h"

namespace pyptox::controller {

absl::StatusOr<std::unique_ptr<StoreReads>> StoreReads::Open(const std::string& database) {
  std::unique_ptr<StoreReads> reads(new StoreReads());
  for (auto& reader : reads->readers_) {
    auto opened = store::Reader::Open(database);
    if (!opened.ok()) return opened.status();
    reader = *std::move(opened);
  }
  return reads;
}

absl::StatusOr<v1::ListJobsResponse> StoreReads::ListJobs(const v1::ListJobsRequest& request) {
  return Next().ListJobs(request);
}

absl::StatusOr<v1::GetJobResponse> StoreReads::GetJob(uint64_t job_id) { return Next().GetJob(job_id); }

absl::StatusOr<v1::ListArtifactsResponse> StoreReads::ListArtifacts(uint64_t job_id) {
  return Next().ListArtifacts(job_id);
}

absl::StatusOr<v1::ListAgentsResponse> StoreReads::ListAgents() { return Next().ListAgents(); }

absl::StatusOr<v1::ListResourcesResponse> StoreReads::ListResources() { return Next().ListResources(); }

absl::StatusOr<v1::ListResourceOrdersResponse> StoreReads::ListResourceOrders(
    const v1::ListResourceOrdersRequest& request) {
  return Next().ListResourceOrders(request);
}

absl::StatusOr<v1::ListLocksResponse> StoreReads::ListLocks() { return Next().ListLocks(); }

absl::StatusOr<v1::ListRecordsResponse> StoreReads::ListRecords(const v1::ListRecordsRequest& request) {
  return Next().ListRecords(request);
}

absl::StatusOr<v1::StoredRecord> StoreReads::GetRecord(uint64_t record_id) { return Next().GetRecord(record_id); }

absl::StatusOr<v1::ShowMatrixResponse> StoreReads::ShowMatrix(const std::string& suite) {
  return Next().ShowMatrix(suite);
}

absl::StatusOr<v1::ServerInfo> StoreReads::GetServerInfo() {
  auto info = Next().GetServerInfo();
  if (!info.ok()) return info.status();
  info->set_version(kVersion);
  info->set_uptime_s(static_cast<uint64_t>((ReadClocks().mono - started_).ns / Seconds(1).ns));
  return info;
}

}  // namespace pyptox::controller
