#include "agent/link/log_sender.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/link_settings.h"
#include "base/unique_fd.h"

namespace pyptox::agent {

void LogSender::Add(uint64_t attempt, const std::string& path) {
  std::lock_guard lock(mutex_);
  logs_[attempt].path = path;
}

void LogSender::Grew(uint64_t attempt, uint64_t size) {
  {
    std::lock_guard lock(mutex_);
    const auto at = logs_.find(attempt);
    if (at == logs_.end() || at->second.size >= size) return;
    at->second.size = size;
    if (!welcomed_ || !MaySend(at->second)) return;
  }
  if (wake_) wake_();
}

void LogSender::Remove(uint64_t attempt) {
  std::lock_guard lock(mutex_);
  logs_.erase(attempt);
}

void LogSender::OnLinkUp() {
  std::lock_guard lock(mutex_);
  welcomed_ = false;
}

void LogSender::OnWelcome(const v1::Welcome& welcome) {
  {
    std::lock_guard lock(mutex_);
    welcomed_ = true;
    for (auto& [attempt, log] : logs_) log.sent = log.acknowledged = 0;
    for (const v1::LogAck& has : welcome.logs()) {
      const auto at = logs_.find(has.attempt_id());
      if (at != logs_.end()) at->second.sent = at->second.acknowledged = has.bytes();
    }
  }
  if (wake_) wake_();
}

void LogSender::OnAck(const v1::LogAck& ack) {
  {
    std::lock_guard lock(mutex_);
    const auto at = logs_.find(ack.attempt_id());
    if (at == logs_.end()) return;
    at->second.acknowledged = std::max(at->second.acknowledged, ack.bytes());
  }
  if (wake_) wake_();
}

std::optional<v1::LogChunk> LogSender::Next() {
  std::lock_guard lock(mutex_);
  if (!welcomed_) return std::nullopt;
  auto at = logs_.upper_bound(turn_);
  for (size_t seen = 0; seen < logs_.size(); ++seen) {
    if (at == logs_.end()) at = logs_.begin();
    if (MaySend(at->second)) {
      if (auto chunk = Take(at->first, &at->second)) {
        turn_ = at->first;
        return chunk;
      }
    }
    ++at;
  }
  return std::nullopt;
}

std::optional<v1::LogChunk> LogSender::NextOf(uint64_t attempt) {
  std::lock_guard lock(mutex_);
  const auto at = logs_.find(attempt);
  if (!welcomed_ || at == logs_.end() || at->second.unreadable) return std::nullopt;
  return Take(attempt, &at->second);
}

bool LogSender::HasWork() {
  std::lock_guard lock(mutex_);
  return welcomed_ && std::any_of(logs_.begin(), logs_.end(), [](const auto& entry) { return MaySend(entry.second); });
}

std::optional<v1::LogChunk> LogSender::Take(uint64_t attempt, Log* log) {
  if (log->sent >= log->size) return std::nullopt;
  v1::LogChunk chunk;
  chunk.set_attempt_id(attempt);
  chunk.set_offset(log->sent);
  std::string* data = chunk.mutable_data();
  data->resize(std::min<uint64_t>(kMaxChunkBytes, log->size - log->sent));
  const UniqueFd fd(open(log->path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  ssize_t count = -1;
  do {
    count = fd.valid() ? pread(fd.get(), data->data(), data->size(), static_cast<off_t>(log->sent)) : -1;
  } while (count < 0 && fd.valid() && errno == EINTR);
  if (count <= 0) {
    log->unreadable = true;
    return std::nullopt;
  }
  data->resize(static_cast<size_t>(count));
  log->sent += data->size();
  return chunk;
}

}  // namespace pyptox::agent
