#include "ctl/client/client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "base/link_settings.h"
#include "base/message_json.h"
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
// A controller that answered before and is silent for longer is gone.
constexpr Duration kPatience = Seconds(60);
// Digests of one FindMissing call (artifact.proto).
constexpr int kDigestsPerCall = 10'000;
// What ListRecords gives when no limit is asked for (record.proto).
constexpr uint32_t kDefaultRecords = 100;

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

// Sends one file. An error of the stream is not ours to tell: its Finish has the reason.
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
    if (!writer.Write(message) || n == 0) return absl::OkStatus();
    message.Clear();
  }
}

}  // namespace

// The services on one channel.
struct Stubs {
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

// The services, and how long a silent controller is waited for.
class Client::Connection : public Stubs {
 public:
  explicit Connection(const std::string& address) : Stubs(MakeChannel(address)), address_(address) {}

  // How one thing is tried until it is done.
  class Trial {
   public:
    explicit Trial(Connection* connection, std::stop_token stop = {})
        : connection_(connection), stop_(std::move(stop)), heard_(ReadClocks().mono) {}
    // The controller said something.
    void Heard() {
      connection_->reached_ = true;
      heard_ = ReadClocks().mono;
    }
    // True after a pause when `status` is worth another try.
    bool Again(const grpc::Status& status) {
      if (status.error_code() != grpc::StatusCode::UNAVAILABLE) {
        Heard();
        return false;
      }
      if (!connection_->reached_ || ReadClocks().mono - heard_ > kPatience || stop_.stop_requested()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(kReconnectMinMs));
      return true;
    }

   private:
    Connection* const connection_;
    const std::stop_token stop_;
    MonoTime heard_;
  };

  // Calls one unary method with the deadline.
  template <typename Service, typename Request, typename Response>
  absl::StatusOr<Response> Call(Service& stub,
                                grpc::Status (Service::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, bool repeatable = true) {
    // Only words of the command line can be wrong; gRPC would fail without saying which.
    if (absl::Status status = MessageToJson(request).status(); !status.ok()) return status;
    Trial trial(this);
    while (true) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
      Response response;
      const grpc::Status status = (stub.*method)(&context, request, &response);
      if (!trial.Again(status) || !repeatable) {
        if (!status.ok()) return Error(status);
        return response;
      }
    }
  }

  absl::Status Error(const grpc::Status& status) const {
    if (status.ok()) return absl::OkStatus();
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      return absl::UnavailableError(fmt::format("no controller answers at {} ({})", address_, status.error_message()));
    }
    // The numbers of the two enums are the same by design.
    return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }

 private:
  const std::string address_;
  std::atomic<bool> reached_ = false;
};

Client::Client(const std::string& address) : connection_(std::make_unique<Connection>(address)) {}
Client::~Client() = default;

absl::StatusOr<v1::SubmitResponse> Client::Submit(const v1::SubmitRequest& request) {
  return connection_->Call(connection_->jobs, &v1::JobService::Stub::Submit, request,
                           !request.idempotency_key().empty());
}

absl::StatusOr<v1::ListJobsResponse> Client::ListJobs(const v1::ListJobsRequest& request) {
  return connection_->Call(connection_->jobs, &v1::JobService::Stub::ListJobs, request);
}

absl::StatusOr<v1::GetJobResponse> Client::GetJob(uint64_t id) {
  v1::GetJobRequest request;
  request.set_id(id);
  return connection_->Call(connection_->jobs, &v1::JobService::Stub::GetJob, request);
}

absl::StatusOr<v1::Job> Client::CancelJob(uint64_t id, const std::string& reason) {
  v1::CancelJobRequest request;
  request.set_id(id);
  request.set_reason(reason);
  return connection_->Call(connection_->jobs, &v1::JobService::Stub::CancelJob, request);
}

absl::StatusOr<v1::Job> Client::RetryJob(uint64_t id) {
  v1::RetryJobRequest request;
  request.set_id(id);
  return connection_->Call(connection_->jobs, &v1::JobService::Stub::RetryJob, request, false);
}

absl::StatusOr<v1::ExplainJobResponse> Client::ExplainJob(uint64_t id) {
  v1::ExplainJobRequest request;
  request.set_id(id);
  return connection_->Call(connection_->jobs, &v1::JobService::Stub::ExplainJob, request);
}

absl::Status Client::WatchJob(uint64_t id, const std::function<bool(const v1::Job&)>& change, std::stop_token stop) {
  v1::WatchJobRequest request;
  request.set_id(id);
  Connection::Trial trial(connection_.get(), stop);
  while (true) {
    grpc::ClientContext context;
    const std::stop_callback cancel(stop, [&context] { context.TryCancel(); });
    std::unique_ptr<grpc::ClientReader<v1::Job>> reader = connection_->jobs.WatchJob(&context, request);
    v1::Job job;
    bool wanted = true;
    while (wanted && reader->Read(&job)) {
      trial.Heard();
      wanted = change(job) && job.state() != v1::JOB_STATE_DONE;
    }
    if (!wanted) context.TryCancel();
    grpc::Status status = reader->Finish();
    if (!wanted) return absl::OkStatus();
    if (stop.stop_requested()) return absl::CancelledError("stopped");
    // A stream that ends before the job does is a controller that stops.
    if (status.ok()) status = grpc::Status(grpc::StatusCode::UNAVAILABLE, "it ended the watch");
    if (!trial.Again(status)) return connection_->Error(status);
  }
}

absl::Status Client::ReadLog(v1::ReadLogRequest request, const std::function<absl::Status(const std::string&)>& chunk) {
  Connection::Trial trial(connection_.get());
  while (true) {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::ReadLogResponse>> reader = connection_->jobs.ReadLog(&context, request);
    v1::ReadLogResponse response;
    absl::Status local;
    while (local.ok() && reader->Read(&response)) {
      trial.Heard();
      request.set_attempt_id(response.attempt_id());
      request.set_offset(response.offset() + response.chunk().size());
      local = chunk(response.chunk());
    }
    if (!local.ok()) context.TryCancel();
    const grpc::Status status = reader->Finish();
    if (!local.ok()) return local;
    if (!trial.Again(status)) return connection_->Error(status);
  }
}

absl::StatusOr<v1::ListArtifactsResponse> Client::ListArtifacts(uint64_t job_id) {
  v1::ListArtifactsRequest request;
  request.set_job_id(job_id);
  return connection_->Call(connection_->artifacts, &v1::ArtifactService::Stub::ListArtifacts, request);
}

absl::Status Client::Download(const std::string& sha256, const std::function<absl::Status(const std::string&)>& chunk) {
  v1::DownloadRequest request;
  request.set_sha256(sha256);
  Connection::Trial trial(connection_.get());
  while (true) {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::DownloadResponse>> reader =
        connection_->artifacts.Download(&context, request);
    v1::DownloadResponse response;
    absl::Status local;
    while (local.ok() && reader->Read(&response)) {
      trial.Heard();
      request.set_offset(request.offset() + response.chunk().size());
      local = chunk(response.chunk());
    }
    if (!local.ok()) context.TryCancel();
    const grpc::Status status = reader->Finish();
    if (!local.ok()) return local;
    if (!trial.Again(status)) return connection_->Error(status);
  }
}

absl::StatusOr<v1::ListRecordsResponse> Client::ListRecords(v1::ListRecordsRequest request) {
  const uint32_t wanted = request.limit() == 0 ? kDefaultRecords : request.limit();
  v1::ListRecordsResponse all;
  while (true) {
    request.set_limit(wanted - static_cast<uint32_t>(all.records_size()));
    absl::StatusOr<v1::ListRecordsResponse> page =
        connection_->Call(connection_->records, &v1::RecordService::Stub::ListRecords, request);
    if (!page.ok()) return page.status();
    all.mutable_records()->MergeFrom(page->records());
    if (page->records().empty() || all.records_size() >= static_cast<int>(wanted)) return all;
    request.set_before_id(page->records(page->records_size() - 1).id());
  }
}

absl::StatusOr<v1::StoredRecord> Client::GetRecord(uint64_t id) {
  v1::GetRecordRequest request;
  request.set_id(id);
  return connection_->Call(connection_->records, &v1::RecordService::Stub::GetRecord, request);
}

absl::StatusOr<v1::ShowMatrixResponse> Client::ShowMatrix(const std::string& suite) {
  v1::ShowMatrixRequest request;
  request.set_suite(suite);
  return connection_->Call(connection_->matrix, &v1::MatrixService::Stub::ShowMatrix, request);
}

absl::StatusOr<v1::QueryResponse> Client::Query(const std::string& sql) {
  v1::QueryRequest request;
  request.set_sql(sql);
  return connection_->Call(connection_->matrix, &v1::MatrixService::Stub::Query, request);
}

absl::StatusOr<v1::ListResourcesResponse> Client::ListResources() {
  return connection_->Call(connection_->resources, &v1::ResourceService::Stub::ListResources,
                           v1::ListResourcesRequest());
}

absl::StatusOr<v1::Resource> Client::GetResource(const std::string& name) {
  v1::GetResourceRequest request;
  request.set_name(name);
  return connection_->Call(connection_->resources, &v1::ResourceService::Stub::GetResource, request);
}

absl::StatusOr<v1::Resource> Client::OrderResource(const v1::OrderResourceRequest& request) {
  return connection_->Call(connection_->resources, &v1::ResourceService::Stub::OrderResource, request);
}

absl::StatusOr<v1::ListResourceOrdersResponse> Client::ListResourceOrders(
    const v1::ListResourceOrdersRequest& request) {
  return connection_->Call(connection_->resources, &v1::ResourceService::Stub::ListResourceOrders, request);
}

absl::StatusOr<v1::ListAgentsResponse> Client::ListAgents() {
  return connection_->Call(connection_->agents, &v1::AgentService::Stub::ListAgents, v1::ListAgentsRequest());
}

absl::StatusOr<v1::ListLocksResponse> Client::ListLocks() {
  return connection_->Call(connection_->locks, &v1::LockService::Stub::ListLocks, v1::ListLocksRequest());
}

absl::StatusOr<v1::ServerInfo> Client::GetServerInfo() {
  return connection_->Call(connection_->server, &v1::ServerService::Stub::GetServerInfo, v1::GetServerInfoRequest());
}

absl::StatusOr<std::vector<std::string>> Client::FindMissing(const std::vector<std::string>& digests) {
  std::vector<std::string> missing;
  for (size_t first = 0; first < digests.size(); first += kDigestsPerCall) {
    v1::FindMissingRequest request;
    for (size_t i = first; i < std::min(digests.size(), first + kDigestsPerCall); ++i) request.add_sha256(digests[i]);
    absl::StatusOr<v1::FindMissingResponse> response =
        connection_->Call(connection_->artifacts, &v1::ArtifactService::Stub::FindMissing, request);
    if (!response.ok()) return response.status();
    missing.insert(missing.end(), response->sha256().begin(), response->sha256().end());
  }
  return missing;
}

absl::Status Client::Upload(const v1::FileEntry& entry, const std::string& path) {
  Connection::Trial trial(connection_.get());
  while (true) {
    grpc::ClientContext context;
    v1::UploadResponse response;
    std::unique_ptr<grpc::ClientWriter<v1::UploadRequest>> writer = connection_->artifacts.Upload(&context, &response);
    const absl::Status local = SendFile(*writer, entry, path);
    if (!local.ok()) context.TryCancel();
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!local.ok()) return local;
    if (!trial.Again(status)) return connection_->Error(status);
  }
}

absl::Status Client::UploadMissing(const v1::Tree& tree, const std::map<std::string, std::string>& files) {
  std::map<std::string, const v1::FileEntry*> entries;
  for (const v1::FileEntry& entry : tree.files()) entries.emplace(entry.sha256(), &entry);
  std::vector<std::string> digests;
  for (const auto& [sha256, entry] : entries) digests.push_back(sha256);
  absl::StatusOr<std::vector<std::string>> missing = FindMissing(digests);
  if (!missing.ok()) return missing.status();
  for (const std::string& sha256 : *missing) {
    const auto entry = entries.find(sha256);
    if (entry == entries.end()) {
      return absl::InternalError(fmt::format("the controller asked for {}, which was not offered", sha256));
    }
    if (absl::Status status = Upload(*entry->second, files.at(sha256)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace pyptox::ctl
