#include "controller/rpc/matrix_service.h"

#include "base/message_json.h"
#include "controller/rpc/grpc_status.h"

namespace pyptox::controller {

grpc::Status MatrixService::ShowMatrix(grpc::ServerContext*, const v1::ShowMatrixRequest* request,
                                       v1::ShowMatrixResponse* response) {
  auto found = reads_->ShowMatrix(request->suite());
  if (found.ok()) *response = *std::move(found);
  return ToGrpcStatus(found.status());
}

grpc::Status MatrixService::Query(grpc::ServerContext*, const v1::QueryRequest* request, v1::QueryResponse* response) {
  if (!slots_.try_acquire()) {
    return ToGrpcStatus(absl::ResourceExhaustedError("other queries are running; try again"));
  }
  const auto json = RunQueryProcess(query_, request->sql());
  slots_.release();
  if (!json.ok()) return ToGrpcStatus(json.status());
  return ToGrpcStatus(JsonToMessage(*json, "query worker", response));
}

}  // namespace pyptox::controller
