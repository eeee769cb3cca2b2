// Moves artifacts between this agent's blob store and the controller's.
#ifndef PYPTOX_AGENT_LINK_ARTIFACT_CLIENT_H_
#define PYPTOX_AGENT_LINK_ARTIFACT_CLIENT_H_

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/blob_store.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/artifact.grpc.pb.h"

namespace pyptox::agent {

// Looked at before and during a transfer; true ends it with CANCELLED.
using StopQuestion = std::function<bool()>;

// Thread safe.
class ArtifactClient {
 public:
  // `blobs` outlives it.
  ArtifactClient(const std::string& target, BlobStore* blobs);

  // Fetches what the blob store lacks, trying again while the controller is away. Errors are what trying again does not
  // mend: NOT_FOUND, DATA_LOSS, RESOURCE_EXHAUSTED (this disk is full), CANCELLED.
  absl::Status Fetch(const std::vector<v1::FileEntry>& files, const StopQuestion& stop);

  // Uploads what the controller lacks. UNAVAILABLE and the like: try again later. `unreadable` gets the digests that
  // this store can't give; they are no error.
  absl::Status Upload(const std::vector<std::string>& sha256, const StopQuestion& stop,
                      std::vector<std::string>* unreadable);

  // Ends all transfers and refuses new ones.
  void Stop();

 private:
  class Call;
  absl::Status FetchOne(const Digest& digest, uint64_t size, const StopQuestion& stop);
  absl::Status UploadOne(const Digest& digest, const StopQuestion& stop, bool* unreadable);
  absl::StatusOr<std::vector<std::string>> FindMissing(const std::vector<std::string>& sha256);

  const std::shared_ptr<grpc::Channel> channel_;
  BlobStore* const blobs_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::set<grpc::ClientContext*> calls_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_ARTIFACT_CLIENT_H_
