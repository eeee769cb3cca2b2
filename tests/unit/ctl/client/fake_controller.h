// A controller that answers as a test tells it to, over a real socket.
#ifndef PYPTOX_TESTS_UNIT_CTL_CLIENT_FAKE_CONTROLLER_H_
#define PYPTOX_TESTS_UNIT_CTL_CLIENT_FAKE_CONTROLLER_H_

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/link_settings.h"
#include "pyptox/v1/artifact.grpc.pb.h"
#include "pyptox/v1/job.grpc.pb.h"
#include "pyptox/v1/record.grpc.pb.h"
#include "pyptox/v1/server.grpc.pb.h"
#include "tests/support/temp_folder.h"

namespace pyptox::ctl {

class FakeController final : public v1::JobService::Service,
                             public v1::ServerService::Service,
                             public v1::RecordService::Service,
                             public v1::ArtifactService::Service {
 public:
  FakeController() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    builder.RegisterService(static_cast<v1::JobService::Service*>(this));
    builder.RegisterService(static_cast<v1::ServerService::Service*>(this));
    builder.RegisterService(static_cast<v1::RecordService::Service*>(this));
    builder.RegisterService(static_cast<v1::ArtifactService::Service*>(this));
    server_ = builder.BuildAndStart();
  }
  ~FakeController() override { server_->Shutdown(std::chrono::system_clock::now()); }

  std::string address() const { return "unix:" + (folder_ / "c.sock"); }

  // The next calls, of whatever kind, answer UNAVAILABLE (streams: after what they had to say).
  void GoAway(int calls) {
    const std::lock_guard lock(mutex_);
    away_ = calls;
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  // States of the next WatchJob streams, in order; the last one repeats.
  std::vector<std::vector<v1::JobState>> watches;
  // What a log and an artifact hold; each stream sends at most `piece` bytes while the controller is to go away.
  std::string contents;
  size_t piece = 3;
  // Records from the newest down, and how many a page has.
  std::vector<uint64_t> record_ids;
  int page = 2;
  std::vector<std::string> missing;

  // What was asked.
  std::vector<v1::ReadLogRequest> log_requests;
  std::vector<v1::ListRecordsRequest> record_requests;
  std::vector<v1::UploadRequest> uploads;
  std::vector<std::string> idempotency_keys;

  grpc::Status GetServerInfo(grpc::ServerContext*, const v1::GetServerInfoRequest*, v1::ServerInfo* info) override {
    Begin();
    info->set_version("fake");
    return End();
  }
  grpc::Status GetJob(grpc::ServerContext*, const v1::GetJobRequest*, v1::GetJobResponse*) override {
    Begin();
    const grpc::Status end = End();
    return end.ok() ? grpc::Status(grpc::StatusCode::NOT_FOUND, "no job 9") : end;
  }
  grpc::Status RetryJob(grpc::ServerContext*, const v1::RetryJobRequest*, v1::Job*) override {
    Begin();
    return End();
  }
  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request, v1::SubmitResponse*) override {
    Begin();
    idempotency_keys.push_back(request->idempotency_key());
    return End();
  }
  grpc::Status WatchJob(grpc::ServerContext* context, const v1::WatchJobRequest* request,
                        grpc::ServerWriter<v1::Job>* writer) override {
    Begin();
    const std::vector<v1::JobState> states = watches.front();
    if (watches.size() > 1) watches.erase(watches.begin());
    for (const v1::JobState state : states) {
      v1::Job job;
      job.set_id(request->id());
      job.set_state(state);
      writer->Write(job);
    }
    if (states.empty()) {
      // Says nothing until the client goes.
      while (!context->IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return End();
  }
  grpc::Status ReadLog(grpc::ServerContext*, const v1::ReadLogRequest* request,
                       grpc::ServerWriter<v1::ReadLogResponse>* writer) override {
    Begin();
    log_requests.push_back(*request);
    v1::ReadLogResponse response;
    response.set_attempt_id(77);
    response.set_offset(request->offset());
    response.set_chunk(Piece(request->offset()));
    writer->Write(response);
    return End();
  }
  grpc::Status Download(grpc::ServerContext*, const v1::DownloadRequest* request,
                        grpc::ServerWriter<v1::DownloadResponse>* writer) override {
    Begin();
    v1::DownloadResponse response;
    response.set_chunk(Piece(request->offset()));
    writer->Write(response);
    return End();
  }
  grpc::Status ListRecords(grpc::ServerContext*, const v1::ListRecordsRequest* request,
                           v1::ListRecordsResponse* response) override {
    Begin();
    record_requests.push_back(*request);
    for (const uint64_t id : record_ids) {
      const bool wanted = request->before_id() == 0 || id < request->before_id();
      if (wanted && response->records_size() < std::min<int>(page, static_cast<int>(request->limit()))) {
        response->add_records()->set_id(id);
      }
    }
    return End();
  }
  grpc::Status FindMissing(grpc::ServerContext*, const v1::FindMissingRequest*,
                           v1::FindMissingResponse* response) override {
    Begin();
    response->mutable_sha256()->Assign(missing.begin(), missing.end());
    return End();
  }
  grpc::Status Upload(grpc::ServerContext*, grpc::ServerReader<v1::UploadRequest>* reader,
                      v1::UploadResponse*) override {
    Begin();
    v1::UploadRequest request;
    while (reader->Read(&request)) uploads.push_back(request);
    return End();
  }

 private:
  // Counts a call before it answers: a client that has its answer need not wait for the end of the call.
  void Begin() {
    const std::lock_guard lock(mutex_);
    ++calls_;
  }
  grpc::Status End() {
    const std::lock_guard lock(mutex_);
    if (away_ == 0) return grpc::Status::OK;
    --away_;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "stopping");
  }
  std::string Piece(uint64_t offset) {
    const std::lock_guard lock(mutex_);
    return contents.substr(offset, away_ == 0 ? std::string::npos : piece);
  }

  TempFolder folder_;
  std::mutex mutex_;
  int away_ = 0;
  int calls_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_TESTS_UNIT_CTL_CLIENT_FAKE_CONTROLLER_H_
