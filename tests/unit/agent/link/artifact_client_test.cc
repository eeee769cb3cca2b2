#include "agent/link/artifact_client.h"

#include <thread>

#include "tests/unit/agent/link/fake_controller.h"
#include "tests/unit/agent/link/scratch_folder.h"

namespace pyptox::agent {
namespace {

class ArtifactClientTest : public ::testing::Test {
 protected:
  ArtifactClientTest()
      : controller_("unix:" + (folder_ / "socket")),
        blobs_(*BlobStore::Open(folder_ / "blobs")),
        client_("unix:" + (folder_ / "socket"), blobs_.get()) {}
  static v1::FileEntry Entry(const std::string& data) {
    v1::FileEntry entry;
    entry.set_name("file");
    entry.set_size(data.size());
    entry.set_sha256(Sha256Of(data).Hex());
    return entry;
  }
  std::string Stored(const std::string& hex) {
    std::string data;
    const absl::Status status = blobs_->Read(*Digest::FromHex(hex), 0, [&](std::string_view piece) {
      data += piece;
      return absl::OkStatus();
    });
    return status.ok() ? data : "?";
  }
  static bool Never() { return false; }

  ScratchFolder folder_;
  FakeController controller_;
  std::unique_ptr<BlobStore> blobs_;
  ArtifactClient client_;
};

TEST_F(ArtifactClientTest, FetchesWhatIsMissing) {
  controller_.Start();
  const std::string large((3 << 20) + 7, 'x');
  for (const std::string& data : {std::string("small"), std::string(), large}) {
    controller_.PutBlob(data);
    ASSERT_TRUE(client_.Fetch({Entry(data)}, Never).ok());
    EXPECT_TRUE(Stored(Entry(data).sha256()) == data);
  }
  // What is here is not asked for: the controller is gone.
  controller_.Stop();
  EXPECT_TRUE(client_.Fetch({Entry("small"), Entry(large)}, Never).ok());
}

TEST_F(ArtifactClientTest, WhatCanNotBeMendedIsAnError) {
  controller_.Start();
  EXPECT_EQ(client_.Fetch({Entry("absent")}, Never).code(), absl::StatusCode::kNotFound);
  controller_.PutBlob("data");
  controller_.Corrupt(Entry("data").sha256(), "dat4");
  EXPECT_EQ(client_.Fetch({Entry("data")}, Never).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Stored(Entry("data").sha256()), "?");
  v1::FileEntry bad = Entry("data");
  bad.set_sha256("../../etc/passwd");
  EXPECT_EQ(client_.Fetch({bad}, Never).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ArtifactClientTest, WaitsForAControllerThatIsAway) {
  controller_.PutBlob("data");
  std::atomic<int> looks = 0;
  std::thread later([&] {
    while (looks < 3) std::this_thread::yield();
    controller_.Start();
  });
  EXPECT_TRUE(client_.Fetch({Entry("data")}, [&] { return ++looks, false; }).ok());
  later.join();
  EXPECT_EQ(Stored(Entry("data").sha256()), "data");
}

TEST_F(ArtifactClientTest, StopEndsAWait) {
  std::atomic<int> looks = 0;
  EXPECT_EQ(client_.Fetch({Entry("data")}, [&] { return ++looks > 3; }).code(), absl::StatusCode::kCancelled);
  client_.Stop();
  controller_.Start();
  controller_.PutBlob("data");
  EXPECT_EQ(client_.Fetch({Entry("data")}, Never).code(), absl::StatusCode::kCancelled);
}

TEST_F(ArtifactClientTest, UploadsWhatTheControllerLacks) {
  controller_.Start();
  const std::string large((2 << 20) + 1, 'y');
  std::vector<std::string> digests;
  for (const std::string& data : {std::string("one"), std::string(), large}) {
    digests.push_back(blobs_->Put(data)->Hex());
  }
  controller_.PutBlob("one");
  digests.push_back(Sha256Of(std::string_view("never stored")).Hex());
  std::vector<std::string> unreadable;
  ASSERT_TRUE(client_.Upload(digests, Never, &unreadable).ok());
  EXPECT_EQ(controller_.Blobs().size(), 3u);
  EXPECT_TRUE(controller_.Blobs()[digests[2]] == large);
  EXPECT_EQ(unreadable, std::vector<std::string>{digests[3]});
}

TEST_F(ArtifactClientTest, ARefusedUploadIsAnErrorAndCanBeTriedAgain) {
  controller_.Start();
  controller_.refuse_uploads_ = 1;
  const std::string hex = blobs_->Put("data")->Hex();
  std::vector<std::string> unreadable;
  EXPECT_EQ(client_.Upload({hex}, Never, &unreadable).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(client_.Upload({hex}, Never, &unreadable).ok());
  EXPECT_EQ(controller_.Blobs()[hex], "data");
  controller_.Stop();
  EXPECT_EQ(client_.Upload({hex}, Never, &unreadable).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace pyptox::agent
