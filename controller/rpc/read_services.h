// The services that only read: agents, locks, records, server.
#ifndef PYPTOX_CONTROLLER_RPC_READ_SERVICES_H_
#define PYPTOX_CONTROLLER_RPC_READ_SERVICES_H_

#include <memory>
#include <vector>

#include "controller/rpc/read_model.h"
#include "grpcpp/impl/service_type.h"

namespace pyptox::controller {

// `reads` outlives the services.
std::vector<std::unique_ptr<grpc::Service>> MakeReadServices(ReadModel* reads);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_READ_SERVICES_H_
