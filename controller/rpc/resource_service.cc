#include "controller/rpc/resource_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/rpc/grpc_status.h"
#include "controller/rpc/page_limit.h"

namespace pyptox::controller {

absl::StatusOr<v1::Resource> ResourceService::Find(const std::string& name) {
  auto all = reads_->ListResources();
  if (!all.ok()) return all.status();
  for (v1::Resource& resource : *all->mutable_resources()) {
    if (resource.name() == name) return std::move(resource);
  }
  return absl::NotFoundError(absl::StrCat("no resource `", name, "`"));
}

grpc::Status ResourceService::ListResources(grpc::ServerContext*, const v1::ListResourcesRequest*,
                                            v1::ListResourcesResponse* response) {
  return Answer(reads_->ListResources(), response);
}

grpc::Status ResourceService::GetResource(grpc::ServerContext*, const v1::GetResourceRequest* request,
                                          v1::Resource* response) {
  return Answer(Find(request->name()), response);
}

grpc::Status ResourceService::OrderResource(grpc::ServerContext*, const v1::OrderResourceRequest* request,
                                            v1::Resource* response) {
  return Answer(core_->OrderResource(*request), response);
}

grpc::Status ResourceService::ListResourceOrders(grpc::ServerContext*, const v1::ListResourceOrdersRequest* request,
                                                 v1::ListResourceOrdersResponse* response) {
  if (auto status = CheckLimit(request->limit()); !status.ok()) return ToGrpcStatus(status);
  if (!request->name().empty()) {
    if (auto named = Find(request->name()); !named.ok()) return ToGrpcStatus(named.status());
  }
  return Answer(reads_->ListResourceOrders(*request), response);
}

}  // namespace pyptox::controller
