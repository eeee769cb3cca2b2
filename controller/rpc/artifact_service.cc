#include "controller/rpc/artifact_service.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/link_settings.h"
#include "controller/rpc/grpc_status.h"

namespace pyptox::controller {
namespace {

constexpr int kMaxDigestsPerQuestion = 10'000;

// Appends a message's chunk, if it has one.
absl::Status AppendChunk(const v1::UploadRequest& message, BlobStore::Writer& writer) {
  if (message.chunk().size() > kMaxChunkBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("chunk: ", message.chunk().size(), " bytes; at most ", kMaxChunkBytes, " are allowed"));
  }
  return message.chunk().empty() ? absl::OkStatus() : writer.Append(message.chunk());
}

absl::Status Receive(BlobStore& blobs, grpc::ServerReader<v1::UploadRequest>& reader, bool& existed) {
  v1::UploadRequest message;
  if (!reader.Read(&message)) return absl::InvalidArgumentError("upload: the first message did not come");
  const auto digest = Digest::FromHex(message.sha256());
  if (!digest.ok()) return absl::InvalidArgumentError(absl::StrCat("sha256: ", digest.status().message()));
  existed = blobs.Contains(*digest);
  if (existed) return absl::OkStatus();
  auto writer = blobs.Write(*digest, message.size());
  if (!writer.ok()) return writer.status();
  while (true) {
    if (auto status = AppendChunk(message, **writer); !status.ok()) return status;
    if (!reader.Read(&message)) return (*writer)->Commit();
    if (!message.sha256().empty() || message.size() != 0) {
      return absl::InvalidArgumentError("upload: sha256 and size belong in the first message only");
    }
  }
}

}  // namespace

grpc::Status ArtifactService::FindMissing(grpc::ServerContext*, const v1::FindMissingRequest* request,
                                          v1::FindMissingResponse* response) {
  if (request->sha256_size() > kMaxDigestsPerQuestion) {
    return ToGrpcStatus(absl::InvalidArgumentError(absl::StrCat(
        "sha256: ", request->sha256_size(), " digests; at most ", kMaxDigestsPerQuestion, " are allowed")));
  }
  for (const std::string& hex : request->sha256()) {
    const auto digest = Digest::FromHex(hex);
    if (!digest.ok()) return ToGrpcStatus(absl::InvalidArgumentError(digest.status().message()));
    if (!blobs_->Contains(*digest)) response->add_sha256(hex);
  }
  return grpc::Status::OK;
}

grpc::Status ArtifactService::Upload(grpc::ServerContext*, grpc::ServerReader<v1::UploadRequest>* reader,
                                     v1::UploadResponse* response) {
  bool existed = false;
  absl::Status status = Receive(*blobs_, *reader, existed);
  // The sender has a disk too.
  if (absl::IsResourceExhausted(status)) {
    status =
        absl::ResourceExhaustedError(absl::StrCat("the controller has no room for an artifact: ", status.message()));
  }
  response->set_existed(existed);
  return ToGrpcStatus(status);
}

grpc::Status ArtifactService::Download(grpc::ServerContext*, const v1::DownloadRequest* request,
                                       grpc::ServerWriter<v1::DownloadResponse>* writer) {
  const auto digest = Digest::FromHex(request->sha256());
  if (!digest.ok()) return ToGrpcStatus(absl::InvalidArgumentError(digest.status().message()));
  v1::DownloadResponse response;
  return ToGrpcStatus(blobs_->Read(*digest, request->offset(), [&](std::string_view chunk) {
    response.set_chunk(chunk.data(), chunk.size());
    return writer->Write(response) ? absl::OkStatus() : absl::CancelledError("the client went away");
  }));
}

grpc::Status ArtifactService::ListArtifacts(grpc::ServerContext*, const v1::ListArtifactsRequest* request,
                                            v1::ListArtifactsResponse* response) {
  auto found = reads_->ListArtifacts(request->job_id());
  if (found.ok()) *response = *std::move(found);
  return ToGrpcStatus(found.status());
}

}  // namespace pyptox::controller
