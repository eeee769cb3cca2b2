#include "agent/link/link_client.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "agent/link/channel.h"
#include "base/link_settings.h"

namespace pyptox::agent {
namespace {

// How long the writer may need to see that the stream has ended. It fails at once when the controller ended it; where
// it does not, it is stuck.
constexpr std::chrono::seconds kWriterPatience(2);

// How often a wait for the network looks whether it shall stop.
constexpr std::chrono::milliseconds kStopPoll(200);

int Jitter(int milliseconds) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int>(milliseconds / 2, milliseconds)(random);
}

}  // namespace

LinkClient::LinkClient(const std::string& target, LogSender* logs, LinkEvents events)
    : target_(target), channel_(OpenChannel(target)), logs_(logs), events_(std::move(events)) {
  logs_->SetWake([this] { Wake(); });
}

LinkClient::~LinkClient() {
  Stop();
  logs_->SetWake(nullptr);
}

void LinkClient::Start() {
  thread_ = std::thread([this] { Run(); });
}

void LinkClient::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LinkClient::Send(uint64_t link, v1::AgentMessage message) {
  {
    std::lock_guard lock(mutex_);
    if (link != link_) return;
    outbox_.push_back(std::move(message));
  }
  changed_.notify_all();
}

void LinkClient::Drop(uint64_t link) {
  std::lock_guard lock(mutex_);
  if (link == link_) context_->TryCancel();
}

bool LinkClient::IsOpen(uint64_t link) {
  std::lock_guard lock(mutex_);
  return link == link_;
}

void LinkClient::Wake() {
  {
    // Taken and given back, so that a writer between its look and its wait can't miss it.
    std::lock_guard lock(mutex_);
  }
  changed_.notify_all();
}

void LinkClient::Run() {
  uint64_t link = 0;
  int pause = kReconnectMinMs;
  while (WaitUntilConnected()) {
    pause = RunStream(++link) ? kReconnectMinMs : std::min(2 * pause, kReconnectMaxMs);
    if (!Pause(Jitter(pause))) return;
  }
}

bool LinkClient::WaitUntilConnected() {
  bool told = events_.unreachable == nullptr;
  while (true) {
    {
      std::lock_guard lock(mutex_);
      if (stopping_) return false;
    }
    // Asks it to connect; it pauses between tries by itself.
    if (channel_->GetState(true) == GRPC_CHANNEL_TRANSIENT_FAILURE && !told) {
      events_.unreachable(target_);
      told = true;
    }
    if (channel_->WaitForConnected(std::chrono::system_clock::now() + kStopPoll)) return true;
  }
}

bool LinkClient::Pause(int milliseconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(milliseconds), [this] { return stopping_; });
  return !stopping_;
}

bool LinkClient::RunStream(uint64_t link) {
  const std::unique_ptr<v1::AgentLink::Stub> stub = v1::AgentLink::NewStub(channel_);
  std::unique_ptr<Stream> stream;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    context_ = std::make_unique<grpc::ClientContext>();
    stream = stub->Connect(context_.get());
    link_ = link;
  }
  logs_->OnLinkUp();
  events_.up(link);
  writing_ = true;
  std::thread writer([this, link, &stream] {
    Write(link, stream.get());
    std::lock_guard lock(mutex_);
    writing_ = false;
    changed_.notify_all();
  });

  bool welcomed = false;
  v1::ControllerMessage message;
  while (stream->Read(&message)) {
    if (message.has_log_ack()) {
      logs_->OnAck(message.log_ack());
      continue;
    }
    if (message.has_welcome()) {
      welcomed = true;
      // First, so that a result that the welcome asks for finds its log's position.
      logs_->OnWelcome(message.welcome());
    }
    events_.said(link, std::move(message));
  }
  {
    std::unique_lock lock(mutex_);
    link_ = 0;
    outbox_.clear();
    changed_.notify_all();
    // Not at once: a cancel would take the place of the reason that the controller gave.
    if (!changed_.wait_for(lock, kWriterPatience, [this] { return !writing_; })) context_->TryCancel();
  }
  writer.join();
  const grpc::Status status = stream->Finish();
  {
    std::lock_guard lock(mutex_);
    stream.reset();
    context_.reset();
  }
  events_.down(link, FromGrpc(status));
  return welcomed;
}

void LinkClient::Write(uint64_t link, Stream* stream) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return link_ != link || !outbox_.empty() || logs_->HasWork(); });
    if (link_ != link) return;
    v1::AgentMessage message;
    if (!outbox_.empty()) {
      message = std::move(outbox_.front());
      outbox_.pop_front();
    }
    lock.unlock();
    bool written = true;
    if (message.has_finished()) {
      written = WriteResult(stream, message);
    } else if (message.body_case() != v1::AgentMessage::BODY_NOT_SET) {
      written = stream->Write(message);
    } else if (auto chunk = logs_->Next()) {
      *message.mutable_log() = *std::move(chunk);
      written = stream->Write(message);
    }
    if (!written) return;  // the reading side sees the end too, and says why
    lock.lock();
  }
}

bool LinkClient::WriteResult(Stream* stream, const v1::AgentMessage& message) {
  while (auto chunk = logs_->NextOf(message.finished().attempt_id())) {
    v1::AgentMessage log;
    *log.mutable_log() = *std::move(chunk);
    if (!stream->Write(log)) return false;
  }
  return stream->Write(message);
}

}  // namespace pyptox::agent
