// The real controller on a folder of its own, and the questions that tests ask it.
#ifndef PYPTOX_TESTS_INTEGRATION_CONTROLLER_CONTROLLER_HOUSE_H_
#define PYPTOX_TESTS_INTEGRATION_CONTROLLER_CONTROLLER_HOUSE_H_

#include <memory>
#include <string>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/lock.pb.h"
#include "pyptox/v1/matrix.pb.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/resource.pb.h"
#include "pyptox/v1/server.pb.h"
#include "tests/integration/controller/controller_process.h"
#include "tests/integration/controller/small_job.h"
#include "tests/support/temp_folder.h"

namespace pyptox::controller {

class ControllerTest : public testing::Test {
 protected:
  ControllerTest() { Restart(); }

  // Starts the controller on the test's folder, after ending the one before it with kill -9.
  void Restart();

  v1::SubmitResponse Submit(const v1::SubmitRequest& request);
  grpc::Status SubmitStatus(const v1::SubmitRequest& request);
  uint64_t SubmitSmall(const std::string& key = "");
  v1::GetJobResponse Get(uint64_t id);
  // Watches a job to its end; the job as it ended.
  v1::Job WaitUntilDone(uint64_t id);
  std::string ReadLog(uint64_t job_id, bool follow);
  std::vector<v1::Cell> Matrix();
  std::vector<v1::StoredRecord> Records();
  std::vector<v1::Lease> Leases();
  v1::Resource GetResource(const std::string& name);
  v1::Resource Order(const std::string& name, v1::ResourceState state);
  std::vector<v1::ResourceOrder> Orders(const std::string& name);
  grpc::Status Query(const std::string& sql, v1::QueryResponse* response);

  TempFolder folder_;
  std::unique_ptr<ControllerProcess> controller_;
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_TESTS_INTEGRATION_CONTROLLER_CONTROLLER_HOUSE_H_
