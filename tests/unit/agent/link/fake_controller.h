// A controller's two agent services in this process, on a private unix socket, driven by the test.
#ifndef PYPTOX_TESTS_UNIT_AGENT_LINK_FAKE_CONTROLLER_H_
#define PYPTOX_TESTS_UNIT_AGENT_LINK_FAKE_CONTROLLER_H_

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "base/link_settings.h"
#include "base/sha256.h"
#include "grpcpp/grpcpp.h"
#include "pyptox/v1/agent.grpc.pb.h"
#include "pyptox/v1/artifact.grpc.pb.h"

namespace pyptox::agent {

class FakeController : public v1::AgentLink::Service, public v1::ArtifactService::Service {
 public:
  using Stream = grpc::ServerReaderWriter<v1::ControllerMessage, v1::AgentMessage>;

  explicit FakeController(std::string address) : address_(std::move(address)) {}
  ~FakeController() override { Stop(); }

  void Start() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
    builder.RegisterService(static_cast<v1::AgentLink::Service*>(this));
    builder.RegisterService(static_cast<v1::ArtifactService::Service*>(this));
    server_ = builder.BuildAndStart();
  }
  void Stop() {
    if (server_ == nullptr) return;
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
    server_.reset();
  }

  // The next message of any stream; waits.
  v1::AgentMessage Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !received_.empty(); });
    v1::AgentMessage message = std::move(received_.front());
    received_.pop_front();
    return message;
  }
  // Skips what is of another kind.
  v1::AgentMessage Next(v1::AgentMessage::BodyCase kind) {
    while (true) {
      v1::AgentMessage message = Next();
      if (message.body_case() == kind) return message;
    }
  }
  // On the newest stream; waits for one.
  void Say(const v1::ControllerMessage& message) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stream_ != nullptr; });
    stream_->Write(message);
  }
  // Ends the newest stream.
  void Hang() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stream_ != nullptr; });
    context_->TryCancel();
    changed_.wait(lock, [this] { return stream_ == nullptr; });
  }

  // Every stream ends with this after its first message. Call it before Start.
  void Refuse(const absl::Status& reason) { refusal_ = reason; }

  std::map<std::string, std::string> Blobs() {
    std::lock_guard lock(mutex_);
    return blobs_;
  }
  std::string PutBlob(const std::string& data) {
    std::lock_guard lock(mutex_);
    const std::string hex = Sha256Of(data).Hex();
    blobs_[hex] = data;
    return hex;
  }
  // Replaces what is served under a digest.
  void Corrupt(const std::string& hex, const std::string& data) {
    std::lock_guard lock(mutex_);
    blobs_[hex] = data;
  }

  grpc::Status Connect(grpc::ServerContext* context, Stream* stream) override {
    {
      std::lock_guard lock(mutex_);
      stream_ = stream;
      context_ = context;
    }
    changed_.notify_all();
    v1::AgentMessage message;
    while (stream->Read(&message)) {
      if (!refusal_.ok()) {
        return {static_cast<grpc::StatusCode>(refusal_.code()), std::string(refusal_.message())};
      }
      std::lock_guard lock(mutex_);
      received_.push_back(std::move(message));
      changed_.notify_all();
    }
    std::lock_guard lock(mutex_);
    if (stream_ == stream) stream_ = nullptr;
    changed_.notify_all();
    return grpc::Status::OK;
  }

  grpc::Status FindMissing(grpc::ServerContext*, const v1::FindMissingRequest* request,
                           v1::FindMissingResponse* response) override {
    std::lock_guard lock(mutex_);
    for (const std::string& hex : request->sha256()) {
      if (!blobs_.contains(hex)) response->add_sha256(hex);
    }
    return grpc::Status::OK;
  }
  grpc::Status Upload(grpc::ServerContext*, grpc::ServerReader<v1::UploadRequest>* reader,
                      v1::UploadResponse*) override {
    v1::UploadRequest request;
    std::string hex, data;
    uint64_t size = 0;
    while (reader->Read(&request)) {
      if (!request.sha256().empty()) {
        hex = request.sha256();
        size = request.size();
      }
      data += request.chunk();
    }
    std::lock_guard lock(mutex_);
    if (refuse_uploads_ > 0) {
      --refuse_uploads_;
      return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "no space");
    }
    if (data.size() != size || Sha256Of(data).Hex() != hex) return grpc::Status(grpc::StatusCode::DATA_LOSS, "bytes");
    blobs_[hex] = data;
    return grpc::Status::OK;
  }
  grpc::Status Download(grpc::ServerContext*, const v1::DownloadRequest* request,
                        grpc::ServerWriter<v1::DownloadResponse>* writer) override {
    std::string data;
    {
      std::lock_guard lock(mutex_);
      const auto at = blobs_.find(request->sha256());
      if (at == blobs_.end()) return grpc::Status(grpc::StatusCode::NOT_FOUND, "not here");
      data = at->second;
    }
    for (size_t at = 0; at < data.size(); at += kMaxChunkBytes) {
      v1::DownloadResponse response;
      response.set_chunk(data.substr(at, kMaxChunkBytes));
      writer->Write(response);
    }
    return grpc::Status::OK;
  }

  // How many uploads to refuse first.
  int refuse_uploads_ = 0;

 private:
  const std::string address_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::AgentMessage> received_;
  Stream* stream_ = nullptr;
  grpc::ServerContext* context_ = nullptr;
  std::map<std::string, std::string> blobs_;
  absl::Status refusal_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_TESTS_UNIT_AGENT_LINK_FAKE_CONTROLLER_H_
