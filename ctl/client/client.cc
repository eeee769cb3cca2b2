#include "ctl/client/client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "base/file_io.h"
#include "base/link_settings.h"
#include "base/time_types.h"
#include "base/unique_fd.h"
#include "pyptox/v1/agent.grpc.pb.h"
#include "pyptox/v1/artifact.grpc.pb.h"
#include "pyptox/v1/job.grpc.pb.h"
#include "pyptox/v1/lock.grpc.pb.h"
#include "pyptox/v1/matrix.grpc.pb.h"
#include "pyptox/v1/record.grpc.pb.h"
#include "pyptox/v1/resource.grpc.pb.h"
#include "pyptox/v1/server.grpc.pb.h"

namespace pyptox::ctl {
namespace {

constexpr std::chrono::seconds kCallDeadline{60};
// Digests of one FindMissing call (artifact.proto).
constexpr int kDigestsPerCall = 10'000;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMinMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kReconnectMinMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  // A proxy of the environment is for downloads, never for the controller.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace

struct Client::Stubs {
  explicit Stubs(const std::shared_ptr<grpc::Channel>& channel)
      : agents(channel),
        artifacts(channel),
        jobs(channel),
        locks(channel),
        matrix(channel),
        records(channel),
        resources(channel),
        server(channel) {}
  v1::AgentService::Stub agents;
  v1::ArtifactService::Stub artifacts;
  v1::JobService::Stub jobs;
  v1::LockService::Stub locks;
  v1::MatrixService::Stub matrix;
  v1::RecordService::Stub records;
  v1::ResourceService::Stub resources;
  v1::ServerService::Stub server;
};

namespace {

absl::Status FromGrpc(const grpc::Status& status, const std::string& address) {
  if (status.ok()) return absl::OkStatus();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::UnavailableError(fmt::format("no controller answers at {} ({})", address, status.error_message()));
  }
  // The numbers of the two enums are the same by design.
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

// Calls one unary method with the deadline.
template <typename Service, typename Request, typename Response>
absl::StatusOr<Response> Call(Service& stub,
                              grpc::Status (Service::*method)(grpc::ClientContext*, const Request&, Response*),
                              const Request& request, const std::string& address) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (!status.ok()) return FromGrpc(status, address);
  return response;
}

absl::Status SendFile(grpc::ClientWriter<v1::UploadRequest>& writer, const v1::FileEntry& entry,
                      const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  v1::UploadRequest message;
  message.set_sha256(entry.sha256());
  message.set_size(entry.size());
  std::string buffer(kMaxChunkBytes, '\0');
  while (true) {
    const ssize_t n = read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, path);
    message.set_chunk(buffer.data(), static_cast<size_t>(n));
    // A broken stream: Finish has the reason.
    if (!writer.Write(message) || n == 0) return absl::OkStatus();
    message.Clear();
  }
}

}  // namespace

Client::Client(const std::string& address) : address_(address), stubs_(std::make_unique<Stubs>(MakeChannel(address))) {}
Client::~Client() = default;

absl::StatusOr<v1::SubmitResponse> Client::Submit(const v1::SubmitRequest& request) {
  return Call(stubs_->jobs, &v1::JobService::Stub::Submit, request, address_);
}

absl::StatusOr<v1::ListJobsResponse> Client::ListJobs(const v1::ListJobsRequest& request) {
  return Call(stubs_->jobs, &v1::JobService::Stub::ListJobs, request, address_);
}

absl::StatusOr<v1::GetJobResponse> Client::GetJob(uint64_t id) {
  v1::GetJobRequest request;
  request.set_id(id);
  return Call(stubs_->jobs, &v1::JobService::Stub::GetJob, request, address_);
}

absl::StatusOr<v1::Job> Client::CancelJob(uint64_t id, const std::string& reason) {
  v1::CancelJobRequest request;
  request.set_id(id);
  request.set_reason(reason);
  return Call(stubs_->jobs, &v1::JobService::Stub::CancelJob, request, address_);
}

absl::StatusOr<v1::Job> Client::RetryJob(uint64_t id) {
  v1::RetryJobRequest request;
  request.set_id(id);
  return Call(stubs_->jobs, &v1::JobService::Stub::RetryJob, request, address_);
}

absl::StatusOr<v1::ExplainJobResponse> Client::ExplainJob(uint64_t id) {
  v1::ExplainJobRequest request;
  request.set_id(id);
  return Call(stubs_->jobs, &v1::JobService::Stub::ExplainJob, request, address_);
}

absl::Status Client::WatchJob(uint64_t id, const std::function<void(const v1::Job&)>& change) {
  v1::WatchJobRequest request;
  request.set_id(id);
  MonoTime heard = ReadClocks().mono;
  while (true) {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::Job>> reader = stubs_->jobs.WatchJob(&context, request);
    v1::Job job;
    bool done = false;
    while (reader->Read(&job)) {
      heard = ReadClocks().mono;
      change(job);
      done = job.state() == v1::JOB_STATE_DONE;
    }
    const absl::Status status = FromGrpc(reader->Finish(), address_);
    if (done) return absl::OkStatus();
    if (!status.ok() && !absl::IsUnavailable(status)) return status;
    if (ReadClocks().mono - heard > Seconds(60)) {
      return status.ok() ? absl::UnavailableError("the controller ends every watch at once") : status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kReconnectMinMs));
  }
}

absl::Status Client::ReadLog(const v1::ReadLogRequest& request,
                             const std::function<absl::Status(const std::string&)>& chunk) {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::ReadLogResponse>> reader = stubs_->jobs.ReadLog(&context, request);
  v1::ReadLogResponse response;
  absl::Status local;
  while (local.ok() && reader->Read(&response)) local = chunk(response.chunk());
  if (!local.ok()) context.TryCancel();
  const absl::Status remote = FromGrpc(reader->Finish(), address_);
  return local.ok() ? remote : local;
}

absl::StatusOr<v1::ListArtifactsResponse> Client::ListArtifacts(uint64_t job_id) {
  v1::ListArtifactsRequest request;
  request.set_job_id(job_id);
  return Call(stubs_->artifacts, &v1::ArtifactService::Stub::ListArtifacts, request, address_);
}

absl::Status Client::Download(const std::string& sha256, const std::function<absl::Status(const std::string&)>& chunk) {
  v1::DownloadRequest request;
  request.set_sha256(sha256);
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::DownloadResponse>> reader = stubs_->artifacts.Download(&context, request);
  v1::DownloadResponse response;
  absl::Status local;
  while (local.ok() && reader->Read(&response)) local = chunk(response.chunk());
  if (!local.ok()) context.TryCancel();
  const absl::Status remote = FromGrpc(reader->Finish(), address_);
  return local.ok() ? remote : local;
}

absl::StatusOr<v1::ListRecordsResponse> Client::ListRecords(const v1::ListRecordsRequest& request) {
  return Call(stubs_->records, &v1::RecordService::Stub::ListRecords, request, address_);
}

absl::StatusOr<v1::StoredRecord> Client::GetRecord(uint64_t id) {
  v1::GetRecordRequest request;
  request.set_id(id);
  return Call(stubs_->records, &v1::RecordService::Stub::GetRecord, request, address_);
}

absl::StatusOr<v1::ShowMatrixResponse> Client::ShowMatrix(const std::string& suite) {
  v1::ShowMatrixRequest request;
  request.set_suite(suite);
  return Call(stubs_->matrix, &v1::MatrixService::Stub::ShowMatrix, request, address_);
}

absl::StatusOr<v1::QueryResponse> Client::Query(const std::string& sql) {
  v1::QueryRequest request;
  request.set_sql(sql);
  return Call(stubs_->matrix, &v1::MatrixService::Stub::Query, request, address_);
}

absl::StatusOr<v1::ListResourcesResponse> Client::ListResources() {
  return Call(stubs_->resources, &v1::ResourceService::Stub::ListResources, v1::ListResourcesRequest(), address_);
}

absl::StatusOr<v1::Resource> Client::GetResource(const std::string& name) {
  v1::GetResourceRequest request;
  request.set_name(name);
  return Call(stubs_->resources, &v1::ResourceService::Stub::GetResource, request, address_);
}

absl::StatusOr<v1::ListAgentsResponse> Client::ListAgents() {
  return Call(stubs_->agents, &v1::AgentService::Stub::ListAgents, v1::ListAgentsRequest(), address_);
}

absl::StatusOr<v1::ListLocksResponse> Client::ListLocks() {
  return Call(stubs_->locks, &v1::LockService::Stub::ListLocks, v1::ListLocksRequest(), address_);
}

absl::StatusOr<v1::ServerInfo> Client::GetServerInfo() {
  return Call(stubs_->server, &v1::ServerService::Stub::GetServerInfo, v1::GetServerInfoRequest(), address_);
}

absl::Status Client::UploadMissing(const v1::Tree& tree, const std::map<std::string, std::string>& files) {
  std::map<std::string, const v1::FileEntry*> entries;
  for (const v1::FileEntry& entry : tree.files()) entries.emplace(entry.sha256(), &entry);
  v1::FindMissingRequest request;
  std::vector<std::string> missing;
  const auto ask = [&]() -> absl::Status {
    absl::StatusOr<v1::FindMissingResponse> response =
        Call(stubs_->artifacts, &v1::ArtifactService::Stub::FindMissing, request, address_);
    if (!response.ok()) return response.status();
    missing.insert(missing.end(), response->sha256().begin(), response->sha256().end());
    request.clear_sha256();
    return absl::OkStatus();
  };
  for (const auto& [sha256, entry] : entries) {
    request.add_sha256(sha256);
    if (request.sha256_size() < kDigestsPerCall) continue;
    if (absl::Status status = ask(); !status.ok()) return status;
  }
  if (absl::Status status = ask(); !status.ok()) return status;

  for (const std::string& sha256 : missing) {
    const auto entry = entries.find(sha256);
    if (entry == entries.end())
      return absl::InternalError(fmt::format("the controller asked for {}, which was not offered", sha256));
    grpc::ClientContext context;
    v1::UploadResponse response;
    std::unique_ptr<grpc::ClientWriter<v1::UploadRequest>> writer = stubs_->artifacts.Upload(&context, &response);
    const absl::Status local = SendFile(*writer, *entry->second, files.at(sha256));
    if (!local.ok()) context.TryCancel();
    writer->WritesDone();
    const absl::Status remote = FromGrpc(writer->Finish(), address_);
    if (!local.ok()) return local;
    if (!remote.ok()) return remote;
  }
  return absl::OkStatus();
}

}  // namespace pyptox::ctl
