#include "ctl/client/client.h"

#include <thread>

#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/ctl/client/fake_controller.h"

namespace pyptox::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() : client(controller.address()) {}
  // The controller has answered once, so that it is waited for.
  void Reach() { ASSERT_TRUE(client.GetServerInfo().ok()); }

  FakeController controller;
  Client client;
};

TEST(ClientAloneTest, NobodyListens) {
  const TempFolder folder;
  Client client("unix:" + (folder / "none.sock"));
  const absl::Status status = client.GetServerInfo().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("no controller answers at unix:" + (folder / "none.sock")));
}

TEST_F(ClientTest, WordsThatAreNotUtf8AreNotSent) {
  const absl::Status status = client.CancelJob(1, "stop\xff").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(std::string(status.message()), "pyptox.v1.CancelJobRequest.reason is not UTF-8");
  EXPECT_EQ(controller.calls(), 0);
}

TEST_F(ClientTest, AControllerThatNeverAnsweredIsNotWaitedFor) {
  controller.GoAway(1);
  EXPECT_TRUE(absl::IsUnavailable(client.GetServerInfo().status()));
  EXPECT_EQ(controller.calls(), 1);
}

TEST_F(ClientTest, AControllerThatAnsweredIsWaitedFor) {
  Reach();
  controller.GoAway(2);
  EXPECT_EQ(client.GetServerInfo()->version(), "fake");
  EXPECT_EQ(controller.calls(), 4);
}

TEST_F(ClientTest, ErrorsAreTheControllers) {
  const absl::Status status = client.GetJob(9).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_EQ(std::string(status.message()), "no job 9");
}

TEST_F(ClientTest, OnlyWhatCanBeRepeatedIsRepeated) {
  Reach();
  controller.GoAway(1);
  EXPECT_TRUE(absl::IsUnavailable(client.RetryJob(1).status()));
  v1::SubmitRequest request;
  controller.GoAway(1);
  EXPECT_TRUE(absl::IsUnavailable(client.Submit(request).status())) << "two submits without a key are two";
  request.set_idempotency_key("k");
  controller.GoAway(1);
  EXPECT_TRUE(client.Submit(request).ok());
  EXPECT_THAT(controller.idempotency_keys, ElementsAre("", "k", "k"));
}

TEST_F(ClientTest, AWatchOutlivesTheController) {
  controller.watches = {{v1::JOB_STATE_QUEUED}, {v1::JOB_STATE_RUNNING, v1::JOB_STATE_DONE}};
  controller.GoAway(1);
  std::vector<v1::JobState> seen;
  const absl::Status status = client.WatchJob(5, [&](const v1::Job& job) {
    EXPECT_EQ(job.id(), 5u);
    seen.push_back(job.state());
    return true;
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(seen, ElementsAre(v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING, v1::JOB_STATE_DONE));
}

TEST_F(ClientTest, AWatchThatEndsTooEarlyIsTakenUpAgain) {
  controller.watches = {{v1::JOB_STATE_QUEUED}, {v1::JOB_STATE_DONE}};
  EXPECT_TRUE(client.WatchJob(5, [](const v1::Job&) { return true; }).ok());
  EXPECT_EQ(controller.calls(), 2);
}

TEST_F(ClientTest, AWatchEndsWhenItIsNotWantedAnyMore) {
  controller.watches = {{v1::JOB_STATE_QUEUED, v1::JOB_STATE_RUNNING, v1::JOB_STATE_RUNNING}};
  int seen = 0;
  EXPECT_TRUE(client.WatchJob(5, [&](const v1::Job& job) { return ++seen, job.state() == v1::JOB_STATE_QUEUED; }).ok());
  EXPECT_EQ(seen, 2);
}

TEST_F(ClientTest, AWatchCanBeStopped) {
  controller.watches = {{}};
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_TRUE(absl::IsCancelled(client.WatchJob(
      5, [](const v1::Job&) { return true; }, stop.get_token())));
}

TEST_F(ClientTest, ALogGoesOnWhereItWasCut) {
  controller.contents = "0123456789";
  controller.GoAway(2);
  v1::ReadLogRequest request;
  request.set_job_id(5);
  request.set_offset(1);
  std::string log;
  const absl::Status status = client.ReadLog(request, [&](const std::string& chunk) {
    log += chunk;
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(log, "123456789");
  ASSERT_EQ(controller.log_requests.size(), 3u);
  EXPECT_EQ(controller.log_requests[1].offset(), 4u);
  EXPECT_EQ(controller.log_requests[1].attempt_id(), 77u) << "never another attempt's bytes";
}

TEST_F(ClientTest, AReaderThatFailsEndsTheLog) {
  controller.contents = "0123456789";
  const absl::Status full = absl::ResourceExhaustedError("disk full");
  EXPECT_EQ(client.ReadLog({}, [&](const std::string&) { return full; }), full);
  EXPECT_EQ(client.Download("", [&](const std::string&) { return full; }), full);
}

TEST_F(ClientTest, ADownloadGoesOnWhereItWasCut) {
  controller.contents = "0123456789";
  controller.GoAway(2);
  std::string got;
  EXPECT_TRUE(client.Download("aa", [&](const std::string& chunk) { return got += chunk, absl::OkStatus(); }).ok());
  EXPECT_EQ(got, "0123456789");
}

TEST_F(ClientTest, RecordsComeInPages) {
  controller.record_ids = {9, 8, 5, 4, 1};
  v1::ListRecordsRequest request;
  request.set_suite("ops");
  request.set_limit(4);
  std::vector<uint64_t> ids;
  const absl::StatusOr<v1::ListRecordsResponse> response = client.ListRecords(request);
  ASSERT_TRUE(response.ok()) << response.status();
  for (const v1::StoredRecord& record : response->records()) ids.push_back(record.id());
  EXPECT_THAT(ids, ElementsAre(9, 8, 5, 4));
  ASSERT_EQ(controller.record_requests.size(), 2u);
  EXPECT_EQ(controller.record_requests[1].before_id(), 8u);
  EXPECT_EQ(controller.record_requests[1].limit(), 2u);
  EXPECT_EQ(controller.record_requests[1].suite(), "ops");
}

TEST_F(ClientTest, FewerRecordsThanAskedFor) {
  controller.record_ids = {2, 1};
  EXPECT_EQ(client.ListRecords({})->records_size(), 2);
  controller.record_ids = {};
  EXPECT_EQ(client.ListRecords({})->records_size(), 0);
}

class UploadTest : public ClientTest {
 protected:
  void Add(const std::string& name, const std::string& data) {
    folder.Write(name, data);
    v1::FileEntry& file = *tree.add_files();
    file.set_name(name);
    file.set_size(data.size());
    file.set_sha256(Sha256Of(data).Hex());
    files[file.sha256()] = folder / name;
  }

  TempFolder folder;
  v1::Tree tree;
  std::map<std::string, std::string> files;
};

TEST_F(UploadTest, OnlyWhatIsMissingInChunks) {
  std::string large(5 << 19, 'x');
  large += "end";
  Add("there", "x");
  Add("large", large);
  controller.missing = {Sha256Of(large).Hex()};
  ASSERT_TRUE(client.UploadMissing(tree, files).ok());
  std::string sent;
  for (const v1::UploadRequest& request : controller.uploads) {
    EXPECT_LE(request.chunk().size(), size_t{kMaxChunkBytes});
    sent += request.chunk();
  }
  EXPECT_EQ(sent == large, true);
  EXPECT_EQ(controller.uploads[0].sha256(), Sha256Of(large).Hex());
  EXPECT_EQ(controller.uploads[0].size(), large.size());
  EXPECT_EQ(controller.uploads[1].sha256(), "");
}

TEST_F(UploadTest, AnEmptyFile) {
  Add("empty", "");
  controller.missing = {Sha256Of("").Hex()};
  ASSERT_TRUE(client.UploadMissing(tree, files).ok());
  ASSERT_EQ(controller.uploads.size(), 1u);
  EXPECT_EQ(controller.uploads[0].sha256(), Sha256Of("").Hex());
}

TEST_F(UploadTest, WhatWasNotOfferedIsNotSent) {
  Add("a", "x");
  controller.missing = {std::string(64, 'f')};
  EXPECT_TRUE(absl::IsInternal(client.UploadMissing(tree, files)));
  EXPECT_TRUE(controller.uploads.empty());
}

TEST_F(UploadTest, AFileThatIsGone) {
  Add("a", "x");
  std::filesystem::remove(folder / "a");
  controller.missing = {Sha256Of("x").Hex()};
  const absl::Status status = client.UploadMissing(tree, files);
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder / "a"));
}

}  // namespace
}  // namespace pyptox::ctl
