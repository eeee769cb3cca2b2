#include "tests/unit/controller/rpc/rpc_house.h"

#include <stdlib.h>

#include <chrono>
#include <utility>

#include "base/file_io.h"
#include "grpc/grpc.h"

namespace pyptox::controller {

absl::StatusOr<v1::SubmitResponse> FakeCore::Submit(v1::SubmitRequest request) {
  if (!answer.ok()) return answer;
  v1::SubmitResponse response;
  response.set_submission_id(1);
  response.add_jobs()->set_suite(request.suite().name());
  return response;
}

absl::StatusOr<v1::Job> FakeCore::CancelJob(uint64_t job_id, const std::string&) { return RetryJob(job_id); }

absl::StatusOr<v1::Job> FakeCore::RetryJob(uint64_t job_id) {
  if (!answer.ok()) return answer;
  v1::Job job;
  job.set_id(job_id);
  return job;
}

absl::StatusOr<v1::ExplainJobResponse> FakeCore::ExplainJob(uint64_t) {
  if (!answer.ok()) return answer;
  v1::ExplainJobResponse response;
  response.add_reasons("because");
  return response;
}

absl::StatusOr<v1::Resource> FakeCore::OrderResource(const v1::OrderResourceRequest& request) {
  if (!answer.ok()) return answer;
  v1::Resource resource;
  resource.set_name(request.name());
  resource.set_state(request.state());
  return resource;
}

absl::StatusOr<uint64_t> FakeCore::OpenSession(v1::Hello hello, std::shared_ptr<AgentSink> sink) {
  std::lock_guard lock(mutex);
  if (!answer.ok()) return answer;
  hellos.push_back(hello.agent());
  const uint64_t session = hellos.size();
  v1::ControllerMessage welcome;
  welcome.mutable_welcome()->set_heartbeat_ms(2000);
  sink->Send(welcome);
  sinks[session] = std::move(sink);
  changed.notify_all();
  return session;
}

absl::Status FakeCore::PostFromAgent(uint64_t, v1::AgentMessage message) {
  std::lock_guard lock(mutex);
  if (!answer.ok()) return answer;
  messages.push_back(std::move(message));
  changed.notify_all();
  return absl::OkStatus();
}

void FakeCore::CloseSession(uint64_t session) {
  std::lock_guard lock(mutex);
  closed.push_back(session);
  changed.notify_all();
}

void FakeCore::WaitFor(const std::function<bool(const FakeCore&)>& done) {
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return done(*this); }));
}

absl::StatusOr<v1::ListJobsResponse> FakeReads::ListJobs(const v1::ListJobsRequest&) { return v1::ListJobsResponse(); }

absl::StatusOr<v1::GetJobResponse> FakeReads::GetJob(uint64_t job_id) {
  const auto found = jobs.find(job_id);
  if (found == jobs.end()) return absl::NotFoundError("no job");
  return found->second;
}

absl::StatusOr<v1::ListArtifactsResponse> FakeReads::ListArtifacts(uint64_t) { return v1::ListArtifactsResponse(); }

absl::StatusOr<v1::ListAgentsResponse> FakeReads::ListAgents() {
  v1::ListAgentsResponse response;
  response.add_agents()->set_name("a");
  return response;
}

absl::StatusOr<v1::ListResourcesResponse> FakeReads::ListResources() {
  v1::ListResourcesResponse response;
  response.add_resources()->set_name("dev");
  response.add_resources()->set_name("qemu");
  return response;
}

absl::StatusOr<v1::ListResourceOrdersResponse> FakeReads::ListResourceOrders(
    const v1::ListResourceOrdersRequest& request) {
  v1::ListResourceOrdersResponse response;
  response.add_orders()->set_resource(request.name());
  return response;
}

absl::StatusOr<v1::ListLocksResponse> FakeReads::ListLocks() {
  v1::ListLocksResponse response;
  response.add_leases()->set_key("resource/dev");
  return response;
}

absl::StatusOr<v1::ListRecordsResponse> FakeReads::ListRecords(const v1::ListRecordsRequest&) { return records; }

absl::StatusOr<v1::StoredRecord> FakeReads::GetRecord(uint64_t) { return absl::NotFoundError("no record"); }

absl::StatusOr<v1::ShowMatrixResponse> FakeReads::ShowMatrix(const std::string& suite) {
  v1::ShowMatrixResponse response;
  response.add_cells()->set_suite(suite);
  return response;
}

absl::StatusOr<v1::ServerInfo> FakeReads::GetServerInfo() {
  v1::ServerInfo info;
  info.set_schema_version(3);
  return info;
}

absl::Status FakeLogs::Append(const std::string&, uint64_t attempt, uint64_t offset, std::string_view data) {
  std::lock_guard lock(mutex);
  std::string& log = logs[attempt];
  if (offset > log.size()) return absl::OutOfRangeError("gap");
  if (offset + data.size() > log.size()) log.append(data.substr(log.size() - offset));
  return absl::OkStatus();
}

void FakeLogs::WhenDurable(uint64_t attempt, std::function<void(uint64_t bytes)> done) {
  uint64_t bytes;
  {
    std::lock_guard lock(mutex);
    bytes = logs[attempt].size();
  }
  done(bytes);
}

absl::StatusOr<std::string> FakeLogs::Read(uint64_t attempt, uint64_t offset, uint64_t max_bytes) {
  std::lock_guard lock(mutex);
  const std::string& log = logs[attempt];
  return offset >= log.size() ? "" : log.substr(offset, max_bytes);
}

bool FakeLogs::WaitForMore(uint64_t, uint64_t, Duration) { return false; }

std::unique_ptr<JobWatch> NoWatches::Watch(uint64_t) {
  class Never final : public JobWatch {
    std::optional<v1::Job> Next(Duration) override { return std::nullopt; }
  };
  return std::make_unique<Never>();
}

RpcHouse::RpcHouse() {
  // Held for the life of the process: when the last object goes, gRPC 1.51 may wait 10 s for a poller of its own.
  static const bool library_stays = (grpc_init(), true);
  (void)library_stays;
  char name[] = "/tmp/pyptox-rpc-XXXXXX";
  folder_ = mkdtemp(name);
  blobs_ = *BlobStore::Open(folder_ + "/blobs");
  auto server = Serve({"unix:" + folder_ + "/s"});
  EXPECT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  grpc::ChannelArguments arguments;
  // Another channel than those of earlier tests, whatever their sockets were called.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  channel_ = grpc::CreateCustomChannel(server_->addresses()[0], grpc::InsecureChannelCredentials(), arguments);
}

RpcHouse::~RpcHouse() {
  server_.reset();
  EXPECT_TRUE(RemoveTree(folder_).ok());
}

absl::StatusOr<std::unique_ptr<RpcServer>> RpcHouse::Serve(const std::vector<std::string>& addresses) {
  std::vector<ListenAddress> parsed;
  for (const std::string& address : addresses) parsed.push_back(*ParseListenAddress(address));
  return RpcServer::Start(parsed, {&core_, &reads_, &watches_, &logs_, blobs_.get()},
                          {{"/bin/sh", "-c", R"(read sql; printf '{"columns":["%s"]}' "$sql")"}, Seconds(60)});
}

}  // namespace pyptox::controller
