// Submitting, watching and steering jobs.
#ifndef PYPTOX_CONTROLLER_RPC_JOB_SERVICE_H_
#define PYPTOX_CONTROLLER_RPC_JOB_SERVICE_H_

#include "base/blob_store.h"
#include "controller/rpc/attempt_logs.h"
#include "controller/rpc/core_gateway.h"
#include "controller/rpc/job_watches.h"
#include "controller/rpc/read_model.h"
#include "controller/rpc/stream_slots.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/job.grpc.pb.h"

namespace pyptox::controller {

// What the service works on. All outlive it.
struct JobServicePorts {
  CoreGateway* core;
  ReadModel* reads;
  JobWatches* watches;
  AttemptLogs* logs;
  BlobStore* blobs;
  StreamSlots* slots;
};

class JobService final : public v1::JobService::Service {
 public:
  explicit JobService(const JobServicePorts& ports) : ports_(ports) {}

  grpc::Status Submit(grpc::ServerContext* context, const v1::SubmitRequest* request,
                      v1::SubmitResponse* response) override;
  grpc::Status ListJobs(grpc::ServerContext* context, const v1::ListJobsRequest* request,
                        v1::ListJobsResponse* response) override;
  grpc::Status GetJob(grpc::ServerContext* context, const v1::GetJobRequest* request,
                      v1::GetJobResponse* response) override;
  grpc::Status CancelJob(grpc::ServerContext* context, const v1::CancelJobRequest* request, v1::Job* response) override;
  grpc::Status RetryJob(grpc::ServerContext* context, const v1::RetryJobRequest* request, v1::Job* response) override;
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::Job>* writer) override;
  grpc::Status ReadLog(grpc::ServerContext* context, const v1::ReadLogRequest* request,
                       grpc::ServerWriter<v1::ReadLogResponse>* writer) override;
  grpc::Status ExplainJob(grpc::ServerContext* context, const v1::ExplainJobRequest* request,
                          v1::ExplainJobResponse* response) override;

 private:
  const JobServicePorts ports_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_JOB_SERVICE_H_
