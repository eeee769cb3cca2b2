#include "controller/rpc/rpc_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_io.h"
#include "base/link_settings.h"
#include "base/unique_fd.h"
#include "controller/rpc/agent_link_service.h"
#include "controller/rpc/artifact_service.h"
#include "controller/rpc/job_service.h"
#include "controller/rpc/matrix_service.h"
#include "controller/rpc/read_services.h"
#include "controller/rpc/resource_service.h"
#include "controller/rpc/stream_slots.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/health_check_service_interface.h"

namespace pyptox::controller {
namespace {

// gRPC 1.51 has no backports against floods, so everything is capped from outside.
constexpr int kMaxThreads = 256;
constexpr size_t kMaxBufferBytes = 512 << 20;
constexpr int kMaxStreamsPerConnection = 128;

// Removes a socket that nobody listens on any more.
absl::Status ClearStaleSocket(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT ? absl::OkStatus() : ErrnoStatus(errno, path);
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": there is a file that is not a socket"));
  }
  const UniqueFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (connect(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 || errno != ECONNREFUSED) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": another process listens on this socket"));
  }
  return unlink(path.c_str()) == 0 ? absl::OkStatus() : ErrnoStatus(errno, absl::StrCat("removing ", path));
}

void SetLimits(grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("controller");
  quota.SetMaxThreads(kMaxThreads);
  quota.Resize(kMaxBufferBytes);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreamsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kServerMinPingIntervalMs);
  // Two servers on one port would share its connections in silence.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

}  // namespace

struct RpcServer::Services {
  Services(const RpcPorts& ports, QueryProcess query)
      : jobs({ports.core, ports.reads, ports.watches, ports.logs, ports.blobs, &slots}),
        link(ports.core, ports.logs, ports.blobs, &slots),
        artifacts(ports.blobs, ports.reads),
        matrix(ports.reads, std::move(query)),
        resources(ports.core, ports.reads),
        readers(MakeReadServices(ports.reads)) {}

  StreamSlots slots;
  JobService jobs;
  AgentLinkService link;
  ArtifactService artifacts;
  MatrixService matrix;
  ResourceService resources;
  std::vector<std::unique_ptr<grpc::Service>> readers;
  std::unique_ptr<grpc::Server> server;
};

RpcServer::RpcServer() = default;

RpcServer::~RpcServer() { Stop({}); }

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(const std::vector<ListenAddress>& addresses,
                                                            const RpcPorts& ports, QueryProcess query) {
  static std::once_flag plugins;
  std::call_once(plugins, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  });
  std::unique_ptr<RpcServer> self(new RpcServer());
  self->services_ = std::make_unique<Services>(ports, std::move(query));
  grpc::ServerBuilder builder;
  SetLimits(builder);
  for (grpc::Service* service :
       {static_cast<grpc::Service*>(&self->services_->jobs), static_cast<grpc::Service*>(&self->services_->link),
        static_cast<grpc::Service*>(&self->services_->artifacts), static_cast<grpc::Service*>(&self->services_->matrix),
        static_cast<grpc::Service*>(&self->services_->resources)}) {
    builder.RegisterService(service);
  }
  for (const auto& service : self->services_->readers) builder.RegisterService(service.get());
  std::vector<int> bound(addresses.size(), 0);
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!addresses[i].unix_path.empty()) {
      if (auto status = ClearStaleSocket(addresses[i].unix_path); !status.ok()) return status;
    }
    builder.AddListeningPort(addresses[i].ToString(), grpc::InsecureServerCredentials(), &bound[i]);
  }
  self->services_->server = builder.BuildAndStart();
  if (!self->services_->server && addresses.empty()) return absl::InvalidArgumentError("no address to listen on");
  for (size_t i = 0; i < addresses.size(); ++i) {
    ListenAddress address = addresses[i];
    if (bound[i] == 0) return absl::UnavailableError(absl::StrCat("can't listen on ", address.ToString()));
    if (address.unix_path.empty()) {
      address.port = bound[i];
    } else {
      self->socket_paths_.push_back(address.unix_path);
      if (chmod(address.unix_path.c_str(), 0600) != 0) return ErrnoStatus(errno, address.unix_path);
    }
    self->addresses_.push_back(address.ToString());
  }
  return self;
}

void RpcServer::Stop(Duration grace) {
  if (!services_ || !services_->server) return;
  services_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::nanoseconds(grace.ns));
  services_->server->Wait();
  services_->server.reset();
  for (const std::string& path : socket_paths_) unlink(path.c_str());
}

}  // namespace pyptox::controller
