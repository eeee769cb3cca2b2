// A server with scripted neighbours, and a channel to it.
#ifndef PYPTOX_TESTS_UNIT_CONTROLLER_RPC_RPC_HOUSE_H_
#define PYPTOX_TESTS_UNIT_CONTROLLER_RPC_RPC_HOUSE_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "controller/rpc/rpc_server.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "pyptox/v1/agent.grpc.pb.h"

namespace pyptox::controller {

// Keeps what it is told; tests wait for it.
class FakeCore final : public CoreGateway {
 public:
  absl::StatusOr<v1::SubmitResponse> Submit(v1::SubmitRequest request) override;
  absl::StatusOr<v1::Job> CancelJob(uint64_t job_id, const std::string& reason) override;
  absl::StatusOr<v1::Job> RetryJob(uint64_t job_id) override;
  absl::StatusOr<v1::ExplainJobResponse> ExplainJob(uint64_t job_id) override;
  absl::StatusOr<v1::Resource> OrderResource(const v1::OrderResourceRequest& request) override;
  absl::StatusOr<uint64_t> OpenSession(v1::Hello hello, std::shared_ptr<AgentSink> sink) override;
  absl::Status PostFromAgent(uint64_t session, v1::AgentMessage message) override;
  void CloseSession(uint64_t session) override;

  // Waits until `done` holds of this object.
  void WaitFor(const std::function<bool(const FakeCore&)>& done);

  std::mutex mutex;
  std::condition_variable changed;
  absl::Status answer;
  std::map<uint64_t, std::shared_ptr<AgentSink>> sinks;
  std::vector<std::string> hellos;
  std::vector<v1::AgentMessage> messages;
  std::vector<uint64_t> closed;
};

class FakeReads final : public ReadModel {
 public:
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
  absl::StatusOr<v1::ServerInfo> GetServerInfo() override;

  std::map<uint64_t, v1::GetJobResponse> jobs;
  v1::ListRecordsResponse records;
};

// Every attempt is live; what is appended is durable at once.
class FakeLogs final : public AttemptLogs {
 public:
  absl::Status Append(const std::string& agent, uint64_t attempt, uint64_t offset, std::string_view data) override;
  void WhenDurable(uint64_t attempt, std::function<void(uint64_t bytes)> done) override;
  absl::StatusOr<std::string> Read(uint64_t attempt, uint64_t offset, uint64_t max_bytes) override;
  bool WaitForMore(uint64_t attempt, uint64_t offset, Duration wait) override;

  std::mutex mutex;
  std::map<uint64_t, std::string> logs;
};

class NoWatches final : public JobWatches {
 public:
  std::unique_ptr<JobWatch> Watch(uint64_t job_id) override;
};

class RpcHouse : public testing::Test {
 protected:
  RpcHouse();
  ~RpcHouse() override;
  // The socket of a second server may be asked for by tests.
  absl::StatusOr<std::unique_ptr<RpcServer>> Serve(const std::vector<std::string>& addresses);

  std::string folder_;
  FakeCore core_;
  FakeReads reads_;
  FakeLogs logs_;
  NoWatches watches_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<RpcServer> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_TESTS_UNIT_CONTROLLER_RPC_RPC_HOUSE_H_
