#include "controller/runtime/artifact_collector.h"

#include <chrono>
#include <utility>

namespace pyptox::controller {

ArtifactCollector::ArtifactCollector(BlobStore* blobs, Reachable reachable, Report report, Duration min_age)
    : blobs_(blobs), reachable_(std::move(reachable)), report_(std::move(report)), min_age_(min_age), thread_([this] {
        Run();
      }) {}

ArtifactCollector::~ArtifactCollector() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ArtifactCollector::Run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    lock.unlock();
    // Without the whole list nothing may go.
    const auto reachable = reachable_();
    report_(reachable.ok() ? blobs_->Collect(*reachable, min_age_) : reachable.status());
    lock.lock();
    wake_.wait_for(lock, std::chrono::nanoseconds(kCollectEvery.ns), [&] { return stop_; });
  }
}

}  // namespace pyptox::controller
