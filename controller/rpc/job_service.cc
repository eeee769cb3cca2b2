#include "controller/rpc/job_service.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/link_settings.h"
#include "controller/rpc/grpc_status.h"
#include "controller/rpc/page_limit.h"
#include "controller/rpc/submit_check.h"

namespace pyptox::controller {
namespace {

// How often a waiting stream looks whether its client is still there.
constexpr Duration kClientCheck = Milliseconds(200);

grpc::Status TooManyStreams() {
  return ToGrpcStatus(absl::ResourceExhaustedError(
      absl::StrCat("this peer has ", kMaxStreamsPerIdentity, " streams open, which is the most allowed")));
}

// The attempt whose log is wanted.
absl::StatusOr<uint64_t> ResolveAttempt(ReadModel& reads, const v1::ReadLogRequest& request) {
  const auto found = reads.GetJob(request.job_id());
  if (!found.ok()) return found.status();
  if (request.attempt_id() == 0) {
    if (found->job().last_attempt_id() != 0) return found->job().last_attempt_id();
    return absl::NotFoundError(absl::StrCat("job ", request.job_id(), " has no attempt yet"));
  }
  for (const v1::Attempt& attempt : found->attempts()) {
    if (attempt.id() == request.attempt_id()) return attempt.id();
  }
  return absl::NotFoundError(absl::StrCat("job ", request.job_id(), " has no attempt ", request.attempt_id()));
}

}  // namespace

grpc::Status JobService::Submit(grpc::ServerContext*, const v1::SubmitRequest* request, v1::SubmitResponse* response) {
  if (auto status = CheckSubmit(*request, *ports_.blobs); !status.ok()) return ToGrpcStatus(status);
  return Answer(ports_.core->Submit(*request), response);
}

grpc::Status JobService::ListJobs(grpc::ServerContext*, const v1::ListJobsRequest* request,
                                  v1::ListJobsResponse* response) {
  if (auto status = CheckLimit(request->limit()); !status.ok()) return ToGrpcStatus(status);
  return Answer(ports_.reads->ListJobs(*request), response);
}

grpc::Status JobService::GetJob(grpc::ServerContext*, const v1::GetJobRequest* request, v1::GetJobResponse* response) {
  return Answer(ports_.reads->GetJob(request->id()), response);
}

grpc::Status JobService::CancelJob(grpc::ServerContext*, const v1::CancelJobRequest* request, v1::Job* response) {
  return Answer(ports_.core->CancelJob(request->id(), request->reason()), response);
}

grpc::Status JobService::RetryJob(grpc::ServerContext*, const v1::RetryJobRequest* request, v1::Job* response) {
  return Answer(ports_.core->RetryJob(request->id()), response);
}

grpc::Status JobService::ExplainJob(grpc::ServerContext*, const v1::ExplainJobRequest* request,
                                    v1::ExplainJobResponse* response) {
  return Answer(ports_.core->ExplainJob(request->id()), response);
}

grpc::Status JobService::WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                                  grpc::ServerWriter<v1::Job>* writer) {
  const auto slot = ports_.slots->Take(context->peer());
  if (!slot) return TooManyStreams();
  // The watch first: no commit can fall between it and the reading.
  const auto watch = ports_.watches->Watch(request->id());
  auto found = ports_.reads->GetJob(request->id());
  if (!found.ok()) return ToGrpcStatus(found.status());
  std::optional<v1::Job> job = std::move(*found->mutable_job());
  while (!context->IsCancelled()) {
    if (job && !writer->Write(*job)) break;
    if (job && job->state() == v1::JOB_STATE_DONE) return grpc::Status::OK;
    job = watch->Next(kClientCheck);
  }
  return grpc::Status::CANCELLED;
}

grpc::Status JobService::ReadLog(grpc::ServerContext* context, const v1::ReadLogRequest* request,
                                 grpc::ServerWriter<v1::ReadLogResponse>* writer) {
  const auto slot = ports_.slots->Take(context->peer());
  if (!slot) return TooManyStreams();
  const auto attempt = ResolveAttempt(*ports_.reads, *request);
  if (!attempt.ok()) return ToGrpcStatus(attempt.status());
  v1::ReadLogResponse response;
  response.set_attempt_id(*attempt);
  uint64_t offset = request->offset();
  while (!context->IsCancelled()) {
    auto chunk = ports_.logs->Read(*attempt, offset, kMaxChunkBytes);
    if (!chunk.ok()) return ToGrpcStatus(chunk.status());
    if (!chunk->empty()) {
      response.set_offset(offset);
      offset += chunk->size();
      response.set_chunk(*std::move(chunk));
      if (!writer->Write(response)) break;
    } else if (!request->follow() || !ports_.logs->WaitForMore(*attempt, offset, kClientCheck)) {
      return grpc::Status::OK;
    }
  }
  return grpc::Status::CANCELLED;
}

}  // namespace pyptox::controller
