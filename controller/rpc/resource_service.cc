#include "controller/rpc/resource_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/rpc/grpc_status.h"
#include "controller/rpc/page_limit.h"

namespace pyptox::controller {

grpc::Status ResourceService::ListResources(grpc::ServerContext*, const v1::ListResourcesRequest*,
                                            v1::ListResourcesResponse* response) {
  return Answer(reads_->ListResources(), response);
}

grpc::Status ResourceService::GetResource(grpc::ServerContext*, const v1::GetResourceRequest* request,
                                          v1::Resource* response) {
  auto found = reads_->ListResources();
  if (!found.ok()) return ToGrpcStatus(found.status());
  for (v1::Resource& resource : *found->mutable_resources()) {
    if (resource.name() == request->name()) {
      *response = std::move(resource);
      return grpc::Status::OK;
    }
  }
  return ToGrpcStatus(absl::NotFoundError(absl::StrCat("no resource `", request->name(), "`")));
}

grpc::Status ResourceService::OrderResource(grpc::ServerContext*, const v1::OrderResourceRequest* request,
                                            v1::Resource* response) {
  return Answer(core_->OrderResource(*request), response);
}

grpc::Status ResourceService::ListResourceOrders(grpc::ServerContext*, const v1::ListResourceOrdersRequest* request,
                                                 v1::ListResourceOrdersResponse* response) {
  if (auto status = CheckLimit(request->limit()); !status.ok()) return ToGrpcStatus(status);
  return Answer(reads_->ListResourceOrders(*request), response);
}

}  // namespace pyptox::controller
