// Removes artifacts that nothing reachable names.
#ifndef PYPTOX_CONTROLLER_RUNTIME_ARTIFACT_COLLECTOR_H_
#define PYPTOX_CONTROLLER_RUNTIME_ARTIFACT_COLLECTOR_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/blob_store.h"

namespace pyptox::controller {

// What was uploaded or asked for this recently may be about to be named.
inline constexpr Duration kArtifactMinAge = Seconds(3600);
inline constexpr Duration kCollectEvery = Seconds(3600);

// Collects at once and then each hour, on a thread of its own, until it is destroyed.
class ArtifactCollector {
 public:
  // What committed state names. Called on the collector's thread.
  using Reachable = std::function<absl::StatusOr<std::set<Digest>>()>;
  // Hears of each collection: how many were removed, or why not.
  using Report = std::function<void(const absl::StatusOr<uint64_t>& removed)>;

  // `blobs` outlives the collector.
  ArtifactCollector(BlobStore* blobs, Reachable reachable, Report report, Duration min_age = kArtifactMinAge);
  ~ArtifactCollector();

 private:
  void Run();

  BlobStore* const blobs_;
  const Reachable reachable_;
  const Report report_;
  const Duration min_age_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_ARTIFACT_COLLECTOR_H_
