// The controller's services as plain calls.
#ifndef PYPTOX_CTL_CLIENT_CLIENT_H_
#define PYPTOX_CTL_CLIENT_CLIENT_H_

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/matrix.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"
#include "pyptox/v1/server.pb.h"

namespace pyptox::ctl {

// Thread safe. Errors are the controller's, with its words; UNAVAILABLE names the address. Calls that do not follow
// something have a deadline of 60 s.
//
// A controller that answered once and then goes away is waited for, 60 s without a word at most: it may be restarting.
// Every call but RetryJob can be made again without harm (Submit by its idempotency key). One that never answered is
// UNAVAILABLE at once.
class Client {
 public:
  explicit Client(const std::string& address);
  ~Client();

  absl::StatusOr<v1::SubmitResponse> Submit(const v1::SubmitRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::GetJobResponse> GetJob(uint64_t id);
  absl::StatusOr<v1::Job> CancelJob(uint64_t id, const std::string& reason);
  absl::StatusOr<v1::Job> RetryJob(uint64_t id);
  absl::StatusOr<v1::ExplainJobResponse> ExplainJob(uint64_t id);
  // Calls `change` with the job now and after each change, until it is DONE, `change` returns false, or a stop is
  // requested (CANCELLED).
  absl::Status WatchJob(uint64_t id, const std::function<bool(const v1::Job&)>& change, std::stop_token stop = {});
  // Calls `chunk` in order from `request.offset` on. An error of `chunk` ends it and is returned.
  absl::Status ReadLog(v1::ReadLogRequest request, const std::function<absl::Status(const std::string&)>& chunk);
  absl::StatusOr<v1::ListArtifactsResponse> ListArtifacts(uint64_t job_id);
  // Calls `chunk` in order. An error of `chunk` ends it and is returned.
  absl::Status Download(const std::string& sha256, const std::function<absl::Status(const std::string&)>& chunk);
  // As many pages as it takes to fill `request.limit`.
  absl::StatusOr<v1::ListRecordsResponse> ListRecords(v1::ListRecordsRequest request);
  absl::StatusOr<v1::StoredRecord> GetRecord(uint64_t id);
  absl::StatusOr<v1::ShowMatrixResponse> ShowMatrix(const std::string& suite);
  absl::StatusOr<v1::QueryResponse> Query(const std::string& sql);
  absl::StatusOr<v1::ListResourcesResponse> ListResources();
  absl::StatusOr<v1::Resource> GetResource(const std::string& name);
  absl::StatusOr<v1::Resource> OrderResource(const v1::OrderResourceRequest& request);
  absl::StatusOr<v1::ListResourceOrdersResponse> ListResourceOrders(const v1::ListResourceOrdersRequest& request);
  absl::StatusOr<v1::ListAgentsResponse> ListAgents();
  absl::StatusOr<v1::ListLocksResponse> ListLocks();
  absl::StatusOr<v1::ServerInfo> GetServerInfo();

  // Sends what the controller lacks. `files` gives a local path for each digest of the tree.
  absl::Status UploadMissing(const v1::Tree& tree, const std::map<std::string, std::string>& files);

 private:
  absl::StatusOr<std::vector<std::string>> FindMissing(const std::vector<std::string>& digests);
  absl::Status Upload(const v1::FileEntry& entry, const std::string& path);

  class Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_CLIENT_CLIENT_H_
