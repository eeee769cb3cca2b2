// Cells, and read-only SQL.
#ifndef PYPTOX_CONTROLLER_RPC_MATRIX_SERVICE_H_
#define PYPTOX_CONTROLLER_RPC_MATRIX_SERVICE_H_

#include <semaphore>
#include <utility>

#include "controller/rpc/query_process.h"
#include "controller/rpc/read_model.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/matrix.grpc.pb.h"

namespace pyptox::controller {

// `reads` outlives the service.
class MatrixService final : public v1::MatrixService::Service {
 public:
  MatrixService(ReadModel* reads, QueryProcess query) : reads_(reads), query_(std::move(query)) {}

  grpc::Status ShowMatrix(grpc::ServerContext* context, const v1::ShowMatrixRequest* request,
                          v1::ShowMatrixResponse* response) override;
  grpc::Status Query(grpc::ServerContext* context, const v1::QueryRequest* request,
                     v1::QueryResponse* response) override;

 private:
  // Queries at once; each may use 256 MiB.
  static constexpr int kMaxQueries = 4;

  ReadModel* const reads_;
  const QueryProcess query_;
  std::counting_semaphore<kMaxQueries> slots_{kMaxQueries};
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_MATRIX_SERVICE_H_
