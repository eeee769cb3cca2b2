// Resources, and what people order about them.
#ifndef PYPTOX_CONTROLLER_RPC_RESOURCE_SERVICE_H_
#define PYPTOX_CONTROLLER_RPC_RESOURCE_SERVICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "controller/rpc/core_gateway.h"
#include "controller/rpc/read_model.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/resource.grpc.pb.h"

namespace pyptox::controller {

class ResourceService final : public v1::ResourceService::Service {
 public:
  // Both outlive it.
  ResourceService(CoreGateway* core, ReadModel* reads) : core_(core), reads_(reads) {}

  grpc::Status ListResources(grpc::ServerContext* context, const v1::ListResourcesRequest* request,
                             v1::ListResourcesResponse* response) override;
  grpc::Status GetResource(grpc::ServerContext* context, const v1::GetResourceRequest* request,
                           v1::Resource* response) override;
  grpc::Status OrderResource(grpc::ServerContext* context, const v1::OrderResourceRequest* request,
                             v1::Resource* response) override;
  grpc::Status ListResourceOrders(grpc::ServerContext* context, const v1::ListResourceOrdersRequest* request,
                                  v1::ListResourceOrdersResponse* response) override;

 private:
  // NOT_FOUND names it.
  absl::StatusOr<v1::Resource> Find(const std::string& name);

  CoreGateway* const core_;
  ReadModel* const reads_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_RESOURCE_SERVICE_H_
