#include "tests/integration/controller/controller_house.h"

#include "pyptox/v1/job.grpc.pb.h"
#include "pyptox/v1/lock.grpc.pb.h"
#include "pyptox/v1/matrix.grpc.pb.h"
#include "pyptox/v1/record.grpc.pb.h"
#include "pyptox/v1/resource.grpc.pb.h"
#include "pyptox/v1/server.grpc.pb.h"

namespace pyptox::controller {

void ControllerTest::Restart() {
  controller_.reset();
  controller_ = std::make_unique<ControllerProcess>(folder_ / "data");
  ASSERT_TRUE(controller_->serving());
  channel_ = controller_->Connect();
}

v1::SubmitResponse ControllerTest::Submit(const v1::SubmitRequest& request) {
  v1::SubmitResponse response;
  grpc::ClientContext context;
  const grpc::Status status = v1::JobService::NewStub(channel_)->Submit(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

grpc::Status ControllerTest::SubmitStatus(const v1::SubmitRequest& request) {
  v1::SubmitResponse response;
  grpc::ClientContext context;
  return v1::JobService::NewStub(channel_)->Submit(&context, request, &response);
}

uint64_t ControllerTest::SubmitSmall(const std::string& key) {
  UploadSmallTree(channel_);
  const v1::SubmitResponse response = Submit(SmallSubmit(key));
  return response.jobs_size() == 1 ? response.jobs(0).id() : 0;
}

v1::GetJobResponse ControllerTest::Get(uint64_t id) {
  v1::GetJobRequest request;
  request.set_id(id);
  v1::GetJobResponse response;
  grpc::ClientContext context;
  const grpc::Status status = v1::JobService::NewStub(channel_)->GetJob(&context, request, &response);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return response;
}

v1::Job ControllerTest::WaitUntilDone(uint64_t id) {
  v1::WatchJobRequest request;
  request.set_id(id);
  grpc::ClientContext context;
  const auto reader = v1::JobService::NewStub(channel_)->WatchJob(&context, request);
  v1::Job job;
  while (reader->Read(&job)) {
  }
  EXPECT_TRUE(reader->Finish().ok());
  return job;
}

std::string ControllerTest::ReadLog(uint64_t job_id, bool follow) {
  v1::ReadLogRequest request;
  request.set_job_id(job_id);
  request.set_follow(follow);
  grpc::ClientContext context;
  const auto reader = v1::JobService::NewStub(channel_)->ReadLog(&context, request);
  std::string log;
  v1::ReadLogResponse response;
  while (reader->Read(&response)) {
    EXPECT_EQ(response.offset(), log.size());
    log += response.chunk();
  }
  EXPECT_TRUE(reader->Finish().ok());
  return log;
}

std::vector<v1::Cell> ControllerTest::Matrix() {
  v1::ShowMatrixResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::MatrixService::NewStub(channel_)->ShowMatrix(&context, {}, &response).ok());
  return {response.cells().begin(), response.cells().end()};
}

std::vector<v1::StoredRecord> ControllerTest::Records() {
  v1::ListRecordsResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::RecordService::NewStub(channel_)->ListRecords(&context, {}, &response).ok());
  return {response.records().begin(), response.records().end()};
}

std::vector<v1::Lease> ControllerTest::Leases() {
  v1::ListLocksResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::LockService::NewStub(channel_)->ListLocks(&context, {}, &response).ok());
  return {response.leases().begin(), response.leases().end()};
}

v1::Resource ControllerTest::GetResource(const std::string& name) {
  v1::GetResourceRequest request;
  request.set_name(name);
  v1::Resource resource;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::ResourceService::NewStub(channel_)->GetResource(&context, request, &resource).ok());
  return resource;
}

v1::Resource ControllerTest::Order(const std::string& name, v1::ResourceState state) {
  v1::OrderResourceRequest request;
  request.set_name(name);
  request.set_state(state);
  request.set_reason("a person wants it");
  request.set_person("ann");
  v1::Resource resource;
  grpc::ClientContext context;
  const grpc::Status status = v1::ResourceService::NewStub(channel_)->OrderResource(&context, request, &resource);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return resource;
}

std::vector<v1::ResourceOrder> ControllerTest::Orders(const std::string& name) {
  v1::ListResourceOrdersRequest request;
  request.set_name(name);
  v1::ListResourceOrdersResponse response;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::ResourceService::NewStub(channel_)->ListResourceOrders(&context, request, &response).ok());
  return {response.orders().begin(), response.orders().end()};
}

grpc::Status ControllerTest::Query(const std::string& sql, v1::QueryResponse* response) {
  v1::QueryRequest request;
  request.set_sql(sql);
  grpc::ClientContext context;
  return v1::MatrixService::NewStub(channel_)->Query(&context, request, response);
}

}  // namespace pyptox::controller
