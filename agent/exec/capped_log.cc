#include "agent/exec/capped_log.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/file_io.h"

namespace pyptox::agent {

absl::StatusOr<std::unique_ptr<CappedLog>> CappedLog::Create(const std::string& path, uint64_t head, uint64_t tail) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoStatus(errno, path);
  return std::unique_ptr<CappedLog>(new CappedLog(path, std::move(fd), head, tail));
}

absl::Status CappedLog::Append(std::string_view data) {
  if (!status_.ok()) return status_;
  const uint64_t before = produced_.load();
  produced_ += data.size();
  if (before < head_) {
    const size_t count = std::min<uint64_t>(head_ - before, data.size());
    status_ = Write(data.substr(0, count));
    if (!status_.ok()) return status_;
    kept_ += count;
    data.remove_prefix(count);
  }
  Hold(data);
  return absl::OkStatus();
}

absl::Status CappedLog::Finish() {
  if (!status_.ok()) return status_;
  const uint64_t left_out = produced_.load() - kept_.load() - ring_.size();
  if (left_out > 0) status_ = Write(fmt::format("\n[pyptox: {} bytes left out]\n", left_out));
  for (const std::string_view part :
       {std::string_view(ring_).substr(oldest_), std::string_view(ring_).substr(0, oldest_)}) {
    if (status_.ok()) status_ = Write(part);
    if (status_.ok()) kept_ += part.size();
  }
  ring_ = std::string();
  oldest_ = 0;
  const absl::Status result = status_;
  if (result.ok()) digest_ = hash_.Finish();
  if (status_.ok()) status_ = absl::FailedPreconditionError(fmt::format("{} is finished", path_));
  return result;
}

absl::Status CappedLog::Write(std::string_view data) {
  absl::Status status = WriteAll(fd_.get(), data);
  if (status.ok()) {
    size_ += data.size();
    hash_.Update(data);
  }
  return status;
}

void CappedLog::Hold(std::string_view data) {
  if (data.size() > tail_) data.remove_prefix(data.size() - tail_);
  const size_t grow = std::min<uint64_t>(tail_ - ring_.size(), data.size());
  ring_.append(data.substr(0, grow));
  data.remove_prefix(grow);
  while (!data.empty()) {
    const size_t count = std::min(data.size(), ring_.size() - oldest_);
    ring_.replace(oldest_, count, data.substr(0, count));
    oldest_ = (oldest_ + count) % ring_.size();
    data.remove_prefix(count);
  }
}

}  // namespace pyptox::agent
