#include "controller/rpc/agent_session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/link_settings.h"
#include "base/relative_path.h"
#include "base/thread_sanitizer.h"
#include "controller/rpc/grpc_status.h"

namespace pyptox::controller {

AgentSession* AgentSession::Start(const AgentSessionPorts& ports, StreamSlots::Slot slot,
                                  grpc::CallbackServerContext* context) {
  const bool admitted = slot != nullptr;
  std::shared_ptr<AgentSession> session(new AgentSession(ports, std::move(slot), context));
  session->self_ = session;
  HandOver(session.get());
  if (admitted) {
    session->StartRead(&session->incoming_);
  } else {
    session->Close(absl::ResourceExhaustedError(
        absl::StrCat("this peer has ", kMaxStreamsPerIdentity, " streams open, which is the most allowed")));
  }
  return session.get();
}

void AgentSession::Send(v1::ControllerMessage message) {
  {
    std::lock_guard lock(mutex_);
    if (end_) return;
    if (message.has_log_ack()) {
      uint64_t& bytes = log_acks_[message.log_ack().attempt_id()];
      bytes = std::max(bytes, message.log_ack().bytes());
    } else {
      outbox_bytes_ += message.ByteSizeLong();
      outbox_.push_back(std::move(message));
    }
    if (outbox_.size() <= kMaxOutboxMessages && outbox_bytes_ <= kMaxOutboxBytes) {
      if (is_writing_ || !TakeNext()) return;
      // Under the lock, so that no Finish can slip in before it.
      StartWrite(&writing_);
      return;
    }
  }
  Close(absl::ResourceExhaustedError("the agent does not read what it is sent"));
  // The write under way is stuck: only this ends it.
  std::lock_guard lock(mutex_);
  if (!finished_) context_->TryCancel();
}

bool AgentSession::TakeNext() {
  if (!outbox_.empty()) {
    writing_ = std::move(outbox_.front());
    outbox_.pop_front();
    outbox_bytes_ -= writing_.ByteSizeLong();
  } else if (!log_acks_.empty()) {
    auto ack = log_acks_.extract(log_acks_.begin());
    writing_.Clear();
    writing_.mutable_log_ack()->set_attempt_id(ack.key());
    writing_.mutable_log_ack()->set_bytes(ack.mapped());
  } else {
    return false;
  }
  is_writing_ = true;
  return true;
}

void AgentSession::Close(absl::Status status) {
  std::lock_guard lock(mutex_);
  if (!end_) end_ = std::move(status);
  // A write under way ends first: by the peer reading it, or by keepalive finding the peer dead.
  if (finished_ || is_writing_) return;
  finished_ = true;
  Finish(ToGrpcStatus(*end_));
}

void AgentSession::OnWriteDone(bool ok) {
  HandedOver(this);
  std::lock_guard lock(mutex_);
  is_writing_ = false;
  if (!ok && !end_) end_ = absl::UnavailableError("the agent's connection broke");
  if (end_) {
    if (!std::exchange(finished_, true)) Finish(ToGrpcStatus(*end_));
  } else if (TakeNext()) {
    StartWrite(&writing_);
  }
  HandOver(this);
}

void AgentSession::OnReadDone(bool ok) {
  HandedOver(this);
  if (!ok) {
    if (session_) ports_.core->CloseSession(*session_);
    Close(absl::OkStatus());
    HandOver(this);
    return;
  }
  if (const absl::Status status = Handle(std::move(incoming_)); !status.ok()) {
    if (session_) ports_.core->CloseSession(*session_);
    session_.reset();
    Close(status);
    HandOver(this);
    return;
  }
  incoming_.Clear();
  HandOver(this);
  StartRead(&incoming_);
}

void AgentSession::OnDone() {
  HandedOver(this);
  slot_.reset();
  self_.reset();
}

absl::Status AgentSession::Handle(v1::AgentMessage message) {
  if (message.has_hello() == session_.has_value()) {
    return absl::InvalidArgumentError("the first message of a stream, and only the first, must be Hello");
  }
  switch (message.body_case()) {
    case v1::AgentMessage::kHello:
      return HandleHello(std::move(*message.mutable_hello()));
    case v1::AgentMessage::kLog:
      return HandleLog(message.log());
    case v1::AgentMessage::kFinished:
      return HandleFinished(std::move(message));
    case v1::AgentMessage::BODY_NOT_SET:
      return absl::InvalidArgumentError("a message without a body, or with one that this controller does not know");
    default:
      return ports_.core->PostFromAgent(*session_, std::move(message));
  }
}

absl::Status AgentSession::HandleHello(v1::Hello hello) {
  if (auto status = CheckName(hello.agent()); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("hello.agent: ", status.message()));
  }
  agent_ = hello.agent();
  auto session = ports_.core->OpenSession(std::move(hello), shared_from_this());
  if (!session.ok()) return session.status();
  session_ = *session;
  return absl::OkStatus();
}

absl::Status AgentSession::HandleLog(const v1::LogChunk& chunk) {
  if (chunk.data().size() > kMaxChunkBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("log.data: ", chunk.data().size(), " bytes; at most ", kMaxChunkBytes, " are allowed"));
  }
  if (auto status = ports_.logs->Append(agent_, chunk.attempt_id(), chunk.offset(), chunk.data()); !status.ok()) {
    return status;
  }
  ports_.logs->WhenDurable(chunk.attempt_id(), [weak = weak_from_this(), attempt = chunk.attempt_id(),
                                                end = chunk.offset() + chunk.data().size()](uint64_t bytes) {
    const auto session = weak.lock();
    if (!session) return;
    v1::ControllerMessage message;
    message.mutable_log_ack()->set_attempt_id(attempt);
    // Dropped bytes count as stored: nobody wants them any more.
    message.mutable_log_ack()->set_bytes(bytes == UINT64_MAX ? end : bytes);
    session->Send(std::move(message));
  });
  return absl::OkStatus();
}

absl::Status AgentSession::HandleFinished(v1::AgentMessage message) {
  v1::ControllerMessage answer;
  for (const v1::FileEntry& file : message.finished().evidence().artifacts()) {
    const auto digest = Digest::FromHex(file.sha256());
    if (!digest.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("finished.evidence.artifacts `", file.name(), "`: ", digest.status().message()));
    }
    if (!ports_.blobs->Contains(*digest)) answer.mutable_finished_ack()->add_missing_sha256(file.sha256());
  }
  if (answer.has_finished_ack()) {
    answer.mutable_finished_ack()->set_attempt_id(message.finished().attempt_id());
    Send(std::move(answer));
    return absl::OkStatus();
  }
  // The log comes before the result on the stream, and is durable before the result is.
  const uint64_t attempt = message.finished().attempt_id();
  ports_.logs->WhenDurable(attempt,
                           [weak = weak_from_this(), session_id = *session_, message = std::move(message)](uint64_t) {
                             const auto session = weak.lock();
                             if (!session) return;
                             const absl::Status status = session->ports_.core->PostFromAgent(session_id, message);
                             if (!status.ok()) session->Close(status);
                           });
  return absl::OkStatus();
}

}  // namespace pyptox::controller
