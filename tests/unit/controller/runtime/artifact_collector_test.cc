#include "controller/runtime/artifact_collector.h"

#include <stdlib.h>

#include <future>
#include <string>

#include "base/file_io.h"
#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

class ArtifactCollectorTest : public testing::Test {
 protected:
  ArtifactCollectorTest() {
    char name[] = "/tmp/pyptox-collector-XXXXXX";
    folder_ = mkdtemp(name);
    blobs_ = *BlobStore::Open(folder_);
    kept_ = *blobs_->Put("kept");
    loose_ = *blobs_->Put("loose");
  }
  ~ArtifactCollectorTest() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }

  absl::StatusOr<uint64_t> CollectOnce(absl::StatusOr<std::set<Digest>> reachable, Duration min_age) {
    std::promise<absl::StatusOr<uint64_t>> removed;
    const ArtifactCollector collector(
        blobs_.get(), [&] { return reachable; }, [&](const auto& result) { removed.set_value(result); }, min_age);
    return removed.get_future().get();
  }

  std::string folder_;
  std::unique_ptr<BlobStore> blobs_;
  Digest kept_, loose_;
};

TEST_F(ArtifactCollectorTest, RemovesWhatNothingNames) {
  EXPECT_EQ(*CollectOnce(std::set<Digest>{kept_}, {}), 1u);
  EXPECT_TRUE(blobs_->Contains(kept_));
  EXPECT_FALSE(blobs_->Contains(loose_));
}

TEST_F(ArtifactCollectorTest, KeepsWhatIsYoung) {
  EXPECT_EQ(*CollectOnce(std::set<Digest>{}, kArtifactMinAge), 0u);
  EXPECT_TRUE(blobs_->Contains(loose_));
}

TEST_F(ArtifactCollectorTest, RemovesNothingWithoutTheList) {
  EXPECT_FALSE(CollectOnce(absl::InternalError("database"), {}).ok());
  EXPECT_TRUE(blobs_->Contains(loose_));
}

}  // namespace
}  // namespace pyptox::controller
