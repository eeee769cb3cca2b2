#include "controller/rpc/read_services.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/link_settings.h"
#include "controller/rpc/grpc_status.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/agent.grpc.pb.h"
#include "pyptox/v1/lock.grpc.pb.h"
#include "pyptox/v1/record.grpc.pb.h"
#include "pyptox/v1/server.grpc.pb.h"

namespace pyptox::controller {
namespace {

class AgentService final : public v1::AgentService::Service {
 public:
  explicit AgentService(ReadModel* reads) : reads_(reads) {}
  grpc::Status ListAgents(grpc::ServerContext*, const v1::ListAgentsRequest*,
                          v1::ListAgentsResponse* response) override {
    return Answer(reads_->ListAgents(), response);
  }

 private:
  ReadModel* const reads_;
};

class LockService final : public v1::LockService::Service {
 public:
  explicit LockService(ReadModel* reads) : reads_(reads) {}
  grpc::Status ListLocks(grpc::ServerContext*, const v1::ListLocksRequest*, v1::ListLocksResponse* response) override {
    return Answer(reads_->ListLocks(), response);
  }

 private:
  ReadModel* const reads_;
};

class RecordService final : public v1::RecordService::Service {
 public:
  explicit RecordService(ReadModel* reads) : reads_(reads) {}

  // A page ends early rather than pass the largest message; the client goes on with `before_id`.
  grpc::Status ListRecords(grpc::ServerContext*, const v1::ListRecordsRequest* request,
                           v1::ListRecordsResponse* response) override {
    constexpr size_t kPageBytes = kMaxMessageBytes * 3 / 4;
    auto found = reads_->ListRecords(*request);
    if (!found.ok()) return ToGrpcStatus(found.status());
    size_t bytes = 0;
    for (v1::StoredRecord& record : *found->mutable_records()) {
      bytes += record.ByteSizeLong();
      if (bytes > kPageBytes && response->records_size() > 0) break;
      *response->add_records() = std::move(record);
    }
    return grpc::Status::OK;
  }
  grpc::Status GetRecord(grpc::ServerContext*, const v1::GetRecordRequest* request,
                         v1::StoredRecord* response) override {
    return Answer(reads_->GetRecord(request->id()), response);
  }

 private:
  ReadModel* const reads_;
};

class ServerService final : public v1::ServerService::Service {
 public:
  explicit ServerService(ReadModel* reads) : reads_(reads) {}
  grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*, v1::ServerInfo* response) override {
    return Answer(reads_->GetServerInfo(), response);
  }

 private:
  ReadModel* const reads_;
};

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> MakeReadServices(ReadModel* reads) {
  std::vector<std::unique_ptr<grpc::Service>> services;
  services.push_back(std::make_unique<AgentService>(reads));
  services.push_back(std::make_unique<LockService>(reads));
  services.push_back(std::make_unique<RecordService>(reads));
  services.push_back(std::make_unique<ServerService>(reads));
  return services;
}

}  // namespace pyptox::controller
