#include "controller/rpc/rpc_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "base/file_io.h"
#include "base/link_settings.h"
#include "base/unique_fd.h"
#include "gmock/gmock.h"
#include "pyptox/v1/artifact.grpc.pb.h"
#include "pyptox/v1/job.grpc.pb.h"
#include "pyptox/v1/lock.grpc.pb.h"
#include "pyptox/v1/matrix.grpc.pb.h"
#include "pyptox/v1/record.grpc.pb.h"
#include "pyptox/v1/resource.grpc.pb.h"
#include "pyptox/v1/server.grpc.pb.h"
#include "tests/unit/controller/rpc/rpc_house.h"

namespace pyptox::controller {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

using RpcServerTest = RpcHouse;

// Uploads in pieces of `piece` bytes under an announced digest and size.
grpc::Status Upload(const std::shared_ptr<grpc::Channel>& channel, const std::string& sha256, uint64_t size,
                    const std::string& data, size_t piece, bool* existed = nullptr) {
  grpc::ClientContext context;
  v1::UploadResponse response;
  const auto writer = v1::ArtifactService::NewStub(channel)->Upload(&context, &response);
  v1::UploadRequest request;
  request.set_sha256(sha256);
  request.set_size(size);
  for (size_t at = 0; at < data.size() || at == 0; at += piece) {
    request.set_chunk(data.substr(at, piece));
    if (!writer->Write(request)) break;
    request.Clear();
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (existed != nullptr) *existed = response.existed();
  return status;
}

grpc::Status Download(const std::shared_ptr<grpc::Channel>& channel, const std::string& sha256, uint64_t offset,
                      std::string* data) {
  grpc::ClientContext context;
  v1::DownloadRequest request;
  request.set_sha256(sha256);
  request.set_offset(offset);
  const auto reader = v1::ArtifactService::NewStub(channel)->Download(&context, request);
  v1::DownloadResponse response;
  while (reader->Read(&response)) {
    EXPECT_LE(response.chunk().size(), static_cast<size_t>(kMaxChunkBytes));
    *data += response.chunk();
  }
  return reader->Finish();
}

TEST_F(RpcServerTest, MovesArtifacts) {
  std::string data(5 << 20, 'a');
  data[3'000'000] = 'b';
  const std::string sha256 = Sha256Of(data).Hex();
  bool existed = true;
  ASSERT_TRUE(Upload(channel_, sha256, data.size(), data, kMaxChunkBytes, &existed).ok());
  EXPECT_FALSE(existed);
  ASSERT_TRUE(Upload(channel_, sha256, data.size(), data, kMaxChunkBytes, &existed).ok());
  EXPECT_TRUE(existed);
  std::string got;
  ASSERT_TRUE(Download(channel_, sha256, 0, &got).ok());
  EXPECT_TRUE(got == data);
  got.clear();
  ASSERT_TRUE(Download(channel_, sha256, 4'999'999, &got).ok());
  EXPECT_EQ(got.size(), data.size() - 4'999'999);
  const std::string empty = Sha256Of("").Hex();
  EXPECT_TRUE(Upload(channel_, empty, 0, "", 1).ok());
}

TEST_F(RpcServerTest, RefusesFalseArtifacts) {
  const std::string sha256 = Sha256Of("right").Hex();
  EXPECT_EQ(Upload(channel_, sha256, 5, "wrong", 5).error_code(), StatusCode::DATA_LOSS);
  EXPECT_EQ(Upload(channel_, sha256, 6, "right", 5).error_code(), StatusCode::DATA_LOSS);
  EXPECT_EQ(Upload(channel_, sha256, 4, "right", 5).error_code(), StatusCode::DATA_LOSS);
  EXPECT_EQ(Upload(channel_, "zz", 5, "right", 5).error_code(), StatusCode::INVALID_ARGUMENT);
  const std::string big(kMaxChunkBytes + 1, 'x');
  EXPECT_EQ(Upload(channel_, Sha256Of(big).Hex(), big.size(), big, big.size()).error_code(),
            StatusCode::INVALID_ARGUMENT);
  EXPECT_FALSE(blobs_->Contains(Sha256Of("right")));
  std::string got;
  EXPECT_EQ(Download(channel_, sha256, 0, &got).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(Download(channel_, "zz", 0, &got).error_code(), StatusCode::INVALID_ARGUMENT);
  // Nothing half-written is left anywhere.
  EXPECT_EQ(system(("test -z \"$(find " + folder_ + "/blobs -type f)\"").c_str()), 0);
}

TEST_F(RpcServerTest, AnUploadThatBreaksOffLeavesNothing) {
  {
    grpc::ClientContext context;
    v1::UploadResponse response;
    const auto writer = v1::ArtifactService::NewStub(channel_)->Upload(&context, &response);
    v1::UploadRequest request;
    request.set_sha256(Sha256Of("never").Hex());
    request.set_size(1 << 21);
    request.set_chunk(std::string(kMaxChunkBytes, 'x'));
    ASSERT_TRUE(writer->Write(request));
    context.TryCancel();
    EXPECT_FALSE(writer->Finish().ok());
  }
  server_.reset();
  EXPECT_EQ(system(("test -z \"$(find " + folder_ + "/blobs -type f)\"").c_str()), 0);
}

TEST_F(RpcServerTest, FindsMissingArtifacts) {
  const std::string here = blobs_->Put("here")->Hex(), gone = Sha256Of("gone").Hex();
  auto stub = v1::ArtifactService::NewStub(channel_);
  v1::FindMissingRequest request;
  request.add_sha256(gone);
  request.add_sha256(here);
  v1::FindMissingResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(stub->FindMissing(&context, request, &response).ok());
  EXPECT_THAT(response.sha256(), ElementsAre(gone));
  for (int i = 0; i < 10'000; ++i) request.add_sha256(here);
  grpc::ClientContext second;
  EXPECT_EQ(stub->FindMissing(&second, request, &response).error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(RpcServerTest, RefusesMessagesPastTheCap) {
  v1::SubmitRequest request;
  request.set_submitter(std::string(kMaxMessageBytes + 1, 'x'));
  v1::SubmitResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(v1::JobService::NewStub(channel_)->Submit(&context, request, &response).error_code(),
            StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(RpcServerTest, PassesOnWhatTheCoreSays) {
  auto stub = v1::JobService::NewStub(channel_);
  core_.answer = absl::ResourceExhaustedError("the queue is full");
  v1::Job job;
  grpc::ClientContext a, b;
  const grpc::Status status = stub->CancelJob(&a, v1::CancelJobRequest(), &job);
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "the queue is full");
  core_.answer = absl::OkStatus();
  v1::RetryJobRequest retry;
  retry.set_id(5);
  ASSERT_TRUE(stub->RetryJob(&b, retry, &job).ok());
  EXPECT_EQ(job.id(), 5u);
}

TEST_F(RpcServerTest, ReadsALogFromAnyOffset) {
  v1::GetJobResponse& job = reads_.jobs[7];
  job.mutable_job()->set_last_attempt_id(3);
  job.add_attempts()->set_id(2);
  job.add_attempts()->set_id(3);
  logs_.logs[2] = "first try";
  logs_.logs[3] = std::string(kMaxChunkBytes, 'a') + "bc";
  const auto read = [&](uint64_t job_id, uint64_t attempt, uint64_t offset, std::string* got) {
    v1::ReadLogRequest request;
    request.set_job_id(job_id);
    request.set_attempt_id(attempt);
    request.set_offset(offset);
    request.set_follow(true);
    grpc::ClientContext context;
    const auto reader = v1::JobService::NewStub(channel_)->ReadLog(&context, request);
    v1::ReadLogResponse response;
    while (reader->Read(&response)) {
      EXPECT_EQ(response.offset(), offset + got->size());
      *got += response.chunk();
    }
    return reader->Finish();
  };
  std::string got;
  ASSERT_TRUE(read(7, 0, 0, &got).ok());
  EXPECT_TRUE(got == logs_.logs[3]);
  got.clear();
  ASSERT_TRUE(read(7, 2, 6, &got).ok());
  EXPECT_EQ(got, "try");
  EXPECT_EQ(read(7, 4, 0, &got).error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(read(8, 0, 0, &got).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(RpcServerTest, OrdersReachTheCoreAndTheirHistoryIsBounded) {
  const auto stub = v1::ResourceService::NewStub(channel_);
  grpc::ClientContext order_context, refused_context, list_context, page_context, unknown_context;
  v1::OrderResourceRequest order;
  order.set_name("qemu");
  order.set_state(v1::RESOURCE_STATE_PAUSED);
  v1::Resource resource;
  ASSERT_TRUE(stub->OrderResource(&order_context, order, &resource).ok());
  EXPECT_EQ(resource.name(), "qemu");
  EXPECT_EQ(resource.state(), v1::RESOURCE_STATE_PAUSED);
  core_.answer = absl::FailedPreconditionError("held by job 7");
  const grpc::Status refused = stub->OrderResource(&refused_context, order, &resource);
  EXPECT_EQ(refused.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(refused.error_message(), "held by job 7");
  v1::ListResourceOrdersRequest list;
  list.set_name("qemu");
  list.set_limit(1000);
  v1::ListResourceOrdersResponse orders;
  ASSERT_TRUE(stub->ListResourceOrders(&list_context, list, &orders).ok());
  EXPECT_EQ(orders.orders(0).resource(), "qemu");
  list.set_limit(1001);
  EXPECT_EQ(stub->ListResourceOrders(&page_context, list, &orders).error_code(), StatusCode::INVALID_ARGUMENT);
  list.set_limit(0);
  list.set_name("none");
  EXPECT_EQ(stub->ListResourceOrders(&unknown_context, list, &orders).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(RpcServerTest, AnswersReaders) {
  grpc::ClientContext a, b, c, d, e, f, g, h;
  v1::ListAgentsResponse agents;
  ASSERT_TRUE(v1::AgentService::NewStub(channel_)->ListAgents(&a, {}, &agents).ok());
  EXPECT_EQ(agents.agents(0).name(), "a");
  v1::GetResourceRequest named;
  named.set_name("qemu");
  v1::Resource resource;
  ASSERT_TRUE(v1::ResourceService::NewStub(channel_)->GetResource(&b, named, &resource).ok());
  EXPECT_EQ(resource.name(), "qemu");
  named.set_name("none");
  EXPECT_EQ(v1::ResourceService::NewStub(channel_)->GetResource(&c, named, &resource).error_code(),
            StatusCode::NOT_FOUND);
  v1::ListLocksResponse locks;
  ASSERT_TRUE(v1::LockService::NewStub(channel_)->ListLocks(&d, {}, &locks).ok());
  EXPECT_EQ(locks.leases(0).key(), "resource/dev");
  v1::ServerInfo info;
  ASSERT_TRUE(v1::ServerService::NewStub(channel_)->GetServerInfo(&e, {}, &info).ok());
  EXPECT_EQ(info.schema_version(), 3u);
  v1::ShowMatrixRequest show;
  show.set_suite("s");
  v1::ShowMatrixResponse matrix;
  ASSERT_TRUE(v1::MatrixService::NewStub(channel_)->ShowMatrix(&f, show, &matrix).ok());
  EXPECT_EQ(matrix.cells(0).suite(), "s");
  v1::QueryRequest query;
  query.set_sql("x\n");
  v1::QueryResponse rows;
  ASSERT_TRUE(v1::MatrixService::NewStub(channel_)->Query(&g, query, &rows).ok());
  EXPECT_THAT(rows.columns(), ElementsAre("x"));
  v1::ListJobsRequest list;
  list.set_limit(1001);
  v1::ListJobsResponse jobs;
  EXPECT_EQ(v1::JobService::NewStub(channel_)->ListJobs(&h, list, &jobs).error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(RpcServerTest, EndsAPageOfRecordsBeforeTheCap) {
  for (int i = 0; i < 5; ++i) {
    v1::StoredRecord* record = reads_.records.add_records();
    record->set_id(9 - i);
    record->set_json(std::string(1 << 20, 'x'));
  }
  v1::ListRecordsResponse page;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::RecordService::NewStub(channel_)->ListRecords(&context, {}, &page).ok());
  ASSERT_EQ(page.records_size(), 2);
  EXPECT_EQ(page.records(1).id(), 8u);
}

TEST_F(RpcServerTest, KeepsItsSocketPrivateAndRemovesIt) {
  const std::string path = folder_ + "/s";
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  server_.reset();
  EXPECT_NE(stat(path.c_str(), &info), 0);
}

TEST_F(RpcServerTest, ReplacesADeadSocketOnly) {
  const auto in_use = Serve({"unix:" + folder_ + "/s"});
  EXPECT_EQ(in_use.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(in_use.status().message()), HasSubstr("another process listens"));
  ASSERT_TRUE(WriteFileAtomically(folder_ + "/file", "precious").ok());
  EXPECT_EQ(Serve({"unix:" + folder_ + "/file"}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*ReadFile(folder_ + "/file", 100), "precious");
  {
    const UniqueFd dead(socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (folder_ + "/dead").c_str());
    ASSERT_EQ(bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  EXPECT_TRUE(Serve({"unix:" + folder_ + "/dead"}).ok());
}

TEST_F(RpcServerTest, ListensOnSeveralAddresses) {
  auto second = Serve({"unix:" + folder_ + "/t", "127.0.0.1:0"});
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_EQ((*second)->addresses().size(), 2u);
  const std::string tcp = (*second)->addresses()[1];
  EXPECT_THAT(tcp, testing::MatchesRegex("127.0.0.1:[1-9][0-9]*"));
  v1::ServerInfo info;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::ServerService::NewStub(grpc::CreateChannel(tcp, grpc::InsecureChannelCredentials()))
                  ->GetServerInfo(&context, {}, &info)
                  .ok());
  EXPECT_EQ(Serve({tcp}).status().code(), absl::StatusCode::kUnavailable) << "a port is not shared";
}

}  // namespace
}  // namespace pyptox::controller
