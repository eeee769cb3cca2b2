// The controller's services as plain calls.
#ifndef PYPTOX_CTL_CLIENT_CLIENT_H_
#define PYPTOX_CTL_CLIENT_CLIENT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

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
  // Calls `change` with the job now and after each change until it is DONE; comes back after a lost connection by
  // itself, and gives UNAVAILABLE only when the controller stays away for 60 s.
  absl::Status WatchJob(uint64_t id, const std::function<void(const v1::Job&)>& change);
  // Calls `chunk` in order from `request.offset` on.
  absl::Status ReadLog(const v1::ReadLogRequest& request, const std::function<absl::Status(const std::string&)>& chunk);
  absl::StatusOr<v1::ListArtifactsResponse> ListArtifacts(uint64_t job_id);
  absl::Status Download(const std::string& sha256, const std::function<absl::Status(const std::string&)>& chunk);
  absl::StatusOr<v1::ListRecordsResponse> ListRecords(const v1::ListRecordsRequest& request);
  absl::StatusOr<v1::StoredRecord> GetRecord(uint64_t id);
  absl::StatusOr<v1::ShowMatrixResponse> ShowMatrix(const std::string& suite);
  absl::StatusOr<v1::QueryResponse> Query(const std::string& sql);
  absl::StatusOr<v1::ListResourcesResponse> ListResources();
  absl::StatusOr<v1::Resource> GetResource(const std::string& name);
  absl::StatusOr<v1::ListAgentsResponse> ListAgents();
  absl::StatusOr<v1::ListLocksResponse> ListLocks();
  absl::StatusOr<v1::ServerInfo> GetServerInfo();

  // Sends what the controller lacks. `files` gives a local path for each digest of the tree.
  absl::Status UploadMissing(const v1::Tree& tree, const std::map<std::string, std::string>& files);

 private:
  struct Stubs;
  std::string address_;
  std::unique_ptr<Stubs> stubs_;
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_CLIENT_CLIENT_H_
