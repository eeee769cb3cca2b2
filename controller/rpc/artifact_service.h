// Moves artifacts between the blob store and the network.
#ifndef PYPTOX_CONTROLLER_RPC_ARTIFACT_SERVICE_H_
#define PYPTOX_CONTROLLER_RPC_ARTIFACT_SERVICE_H_

#include "base/blob_store.h"
#include "controller/rpc/read_model.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/artifact.grpc.pb.h"

namespace pyptox::controller {

// Both arguments outlive the service.
class ArtifactService final : public v1::ArtifactService::Service {
 public:
  ArtifactService(BlobStore* blobs, ReadModel* reads) : blobs_(blobs), reads_(reads) {}

  grpc::Status FindMissing(grpc::ServerContext* context, const v1::FindMissingRequest* request,
                           v1::FindMissingResponse* response) override;
  grpc::Status Upload(grpc::ServerContext* context, grpc::ServerReader<v1::UploadRequest>* reader,
                      v1::UploadResponse* response) override;
  grpc::Status Download(grpc::ServerContext* context, const v1::DownloadRequest* request,
                        grpc::ServerWriter<v1::DownloadResponse>* writer) override;
  grpc::Status ListArtifacts(grpc::ServerContext* context, const v1::ListArtifactsRequest* request,
                             v1::ListArtifactsResponse* response) override;

 private:
  BlobStore* const blobs_;
  ReadModel* const reads_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_ARTIFACT_SERVICE_H_
