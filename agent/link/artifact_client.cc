#include "agent/link/artifact_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "agent/link/channel.h"
#include "base/link_settings.h"
#include "base/sha256.h"

namespace pyptox::agent {
namespace {

constexpr size_t kMaxDigestsPerQuestion = 10'000;
// A call without any progress is given up after this long; a transfer gets as much more per MiB.
constexpr std::chrono::seconds kCallLimit(60);
constexpr std::chrono::milliseconds kRetryPoll(100);

bool MayMend(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsAborted(status) ||
         absl::IsUnknown(status) || absl::IsInternal(status);
}

absl::Status Cancelled() { return absl::CancelledError("the transfer was ended"); }

}  // namespace

// A context that Stop can cancel.
class ArtifactClient::Call {
 public:
  Call(ArtifactClient* client, uint64_t bytes) : client_(client) {
    context_.set_deadline(std::chrono::system_clock::now() + kCallLimit + std::chrono::seconds(bytes >> 20));
    std::lock_guard lock(client_->mutex_);
    client_->calls_.insert(&context_);
    if (client_->stopped_) context_.TryCancel();
  }
  ~Call() {
    std::lock_guard lock(client_->mutex_);
    client_->calls_.erase(&context_);
  }
  grpc::ClientContext* context() { return &context_; }

 private:
  ArtifactClient* const client_;
  grpc::ClientContext context_;
};

ArtifactClient::ArtifactClient(const std::string& target, BlobStore* blobs)
    : channel_(OpenChannel(target)), blobs_(blobs) {}

void ArtifactClient::Stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  for (grpc::ClientContext* context : calls_) context->TryCancel();
}

absl::Status ArtifactClient::Fetch(const std::vector<v1::FileEntry>& files, const StopQuestion& stop) {
  for (const v1::FileEntry& file : files) {
    absl::StatusOr<Digest> digest = Digest::FromHex(file.sha256());
    if (!digest.ok()) return digest.status();
    int pause = kReconnectMinMs;
    while (!blobs_->Contains(*digest)) {
      if (stop()) return Cancelled();
      const absl::Status status = FetchOne(*digest, file.size(), stop);
      if (status.ok()) break;
      if (!MayMend(status)) {
        return absl::Status(status.code(),
                            fmt::format("{} ({}): {}", file.name(), file.sha256(), std::string(status.message())));
      }
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(pause);
      while (std::chrono::steady_clock::now() < until && !stop()) std::this_thread::sleep_for(kRetryPoll);
      pause = std::min(2 * pause, kReconnectMaxMs);
    }
  }
  return absl::OkStatus();
}

absl::Status ArtifactClient::FetchOne(const Digest& digest, uint64_t size, const StopQuestion& stop) {
  absl::StatusOr<std::unique_ptr<BlobStore::Writer>> writer = blobs_->Write(digest, size);
  if (!writer.ok()) return writer.status();
  Call call(this, size);
  v1::DownloadRequest request;
  request.set_sha256(digest.Hex());
  const auto stub = v1::ArtifactService::NewStub(channel_);
  const auto reader = stub->Download(call.context(), request);
  v1::DownloadResponse response;
  absl::Status written;
  while (reader->Read(&response)) {
    if (written.ok()) written = stop() ? Cancelled() : (*writer)->Append(response.chunk());
    if (!written.ok()) call.context()->TryCancel();
  }
  const absl::Status status = FromGrpc(reader->Finish());
  if (!written.ok()) return written;
  if (absl::IsCancelled(status)) return Cancelled();
  if (!status.ok()) return status;
  return (*writer)->Commit();
}

absl::Status ArtifactClient::Upload(const std::vector<std::string>& sha256, const StopQuestion& stop,
                                    std::vector<std::string>* unreadable) {
  absl::StatusOr<std::vector<std::string>> missing = FindMissing(sha256);
  if (!missing.ok()) return missing.status();
  for (const std::string& hex : *missing) {
    absl::StatusOr<Digest> digest = Digest::FromHex(hex);
    if (!digest.ok()) return digest.status();
    bool lost = false;
    const absl::Status status = stop() ? Cancelled() : UploadOne(*digest, stop, &lost);
    if (lost) {
      unreadable->push_back(hex);
    } else if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ArtifactClient::UploadOne(const Digest& digest, const StopQuestion& stop, bool* unreadable) {
  // The store hands the last piece over only after the whole blob was verified; the size must be known before.
  uint64_t size = 0;
  absl::Status status = blobs_->Read(digest, 0, [&](std::string_view piece) {
    size += piece.size();
    return absl::OkStatus();
  });
  *unreadable = !status.ok();
  if (!status.ok()) return status;

  Call call(this, size);
  v1::UploadResponse response;
  const auto stub = v1::ArtifactService::NewStub(channel_);
  const auto writer = stub->Upload(call.context(), &response);
  v1::UploadRequest request;
  request.set_sha256(digest.Hex());
  request.set_size(size);
  bool open = writer->Write(request);
  status = blobs_->Read(digest, 0, [&](std::string_view piece) {
    if (stop()) return Cancelled();
    v1::UploadRequest next;
    next.set_chunk(piece.data(), piece.size());
    open = open && writer->Write(next);
    // The server may have it already and not read on; its status says.
    return open ? absl::OkStatus() : absl::AbortedError("the controller reads no more");
  });
  if (!status.ok() && open) call.context()->TryCancel();
  writer->WritesDone();
  const absl::Status answer = FromGrpc(writer->Finish());
  if (!status.ok() && open) return status;
  return answer;
}

absl::StatusOr<std::vector<std::string>> ArtifactClient::FindMissing(const std::vector<std::string>& sha256) {
  std::vector<std::string> missing;
  const auto stub = v1::ArtifactService::NewStub(channel_);
  for (size_t at = 0; at < sha256.size(); at += kMaxDigestsPerQuestion) {
    v1::FindMissingRequest request;
    const size_t end = std::min(sha256.size(), at + kMaxDigestsPerQuestion);
    for (size_t i = at; i < end; ++i) request.add_sha256(sha256[i]);
    v1::FindMissingResponse response;
    Call call(this, 0);
    const absl::Status status = FromGrpc(stub->FindMissing(call.context(), request, &response));
    if (!status.ok()) return status;
    missing.insert(missing.end(), response.sha256().begin(), response.sha256().end());
  }
  return missing;
}

}  // namespace pyptox::agent
