#include "controller/runtime/log_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_io.h"

namespace pyptox::controller {
namespace {

// Between two rounds of syncs, so that many small chunks share one. Far below the 200 ms that an agent may wait.
constexpr auto kSyncGap = std::chrono::milliseconds(20);

std::string FileName(uint64_t attempt) { return absl::StrCat("attempt-", attempt, ".log"); }

// A full log takes nothing more, so whatever comes counts as stored.
uint64_t Acknowledged(uint64_t durable) { return durable >= kMaxLogBytes ? UINT64_MAX : durable; }

// Writes at an offset; `written` says how far it came.
absl::Status WriteAt(int fd, std::string_view data, uint64_t offset, uint64_t& written) {
  written = 0;
  while (written < data.size()) {
    const ssize_t n = pwrite(fd, data.data() + written, data.size() - written, static_cast<off_t>(offset + written));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(errno, "log: write");
    written += static_cast<uint64_t>(n);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogFiles>> LogFiles::Open(const std::string& folder,
                                                         std::function<void(absl::Status)> on_fatal) {
  if (auto status = MakeFolders(folder); !status.ok()) return status;
  UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, folder);
  return std::unique_ptr<LogFiles>(new LogFiles(std::move(fd), std::move(on_fatal)));
}

LogFiles::LogFiles(UniqueFd folder, std::function<void(absl::Status)> on_fatal)
    : folder_(std::move(folder)), on_fatal_(std::move(on_fatal)), syncer_([this] { SyncLoop(); }) {}

LogFiles::~LogFiles() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    wake_syncer_.notify_all();
    grown_.notify_all();
  }
  syncer_.join();
}

absl::Status LogFiles::Begin(uint64_t attempt, const std::string& agent) {
  std::lock_guard lock(mutex_);
  auto& entry = live_[attempt];
  if (entry) return absl::OkStatus();
  auto log = std::make_shared<Log>();
  log->agent = agent;
  const std::string name = FileName(attempt);
  log->fd.Reset(openat(folder_.get(), name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat info;
  if (!log->fd.valid() || fstat(log->fd.get(), &info) != 0 ||
      (info.st_size > 0 && (fdatasync(log->fd.get()) != 0 || fsync(folder_.get()) != 0))) {
    const int error = errno;
    live_.erase(attempt);
    return ErrnoStatus(error, absl::StrCat("log ", name));
  }
  log->is_new = info.st_size == 0;
  log->size = log->durable = static_cast<uint64_t>(info.st_size);
  entry = std::move(log);
  return absl::OkStatus();
}

void LogFiles::End(uint64_t attempt) {
  std::lock_guard lock(mutex_);
  live_.erase(attempt);
  grown_.notify_all();
}

uint64_t LogFiles::DurableBytes(uint64_t attempt) {
  std::lock_guard lock(mutex_);
  const auto found = live_.find(attempt);
  return found == live_.end() ? 0 : found->second->durable;
}

absl::Status LogFiles::Append(const std::string& agent, uint64_t attempt, uint64_t offset, std::string_view data) {
  std::unique_lock lock(mutex_);
  const auto found = live_.find(attempt);
  if (found == live_.end() || found->second->agent != agent) return absl::OkStatus();
  if (failed_) return absl::UnavailableError("log: the controller stops after an I/O error");
  const std::shared_ptr<Log> log = found->second;
  if (offset > log->size) {
    return absl::OutOfRangeError(absl::StrCat("log of attempt ", attempt, ": a chunk at ", offset,
                                              " would leave a gap after ", log->size, " bytes"));
  }
  const uint64_t end = std::min(offset + data.size(), kMaxLogBytes);
  if (end <= log->size) return absl::OkStatus();
  uint64_t written = 0;
  const absl::Status status =
      WriteAt(log->fd.get(), data.substr(log->size - offset, end - log->size), log->size, written);
  log->size += written;
  if (written > 0) MarkBehind(log);
  grown_.notify_all();
  // A full disk may have room again later; the agent keeps the bytes and comes back.
  if (!status.ok() && !absl::IsResourceExhausted(status)) {
    lock.unlock();
    Fail(status);
  }
  return status;
}

void LogFiles::WhenDurable(uint64_t attempt, std::function<void(uint64_t bytes)> done) {
  uint64_t bytes = UINT64_MAX;
  {
    std::lock_guard lock(mutex_);
    const auto found = live_.find(attempt);
    if (found != live_.end()) {
      const std::shared_ptr<Log>& log = found->second;
      if (log->durable < log->size) {
        log->waiting.push_back(std::move(done));
        MarkBehind(log);
        return;
      }
      bytes = Acknowledged(log->durable);
    }
  }
  done(bytes);
}

absl::StatusOr<std::string> LogFiles::Read(uint64_t attempt, uint64_t offset, uint64_t max_bytes) {
  const std::string name = FileName(attempt);
  const UniqueFd fd(openat(folder_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return errno == ENOENT ? absl::StatusOr<std::string>("") : ErrnoStatus(errno, name);
  // No file is that long, and off_t could not say it.
  if (offset > kMaxLogBytes) return "";
  std::string data(std::min(max_bytes, kMaxLogBytes), '\0');
  ssize_t n;
  do {
    n = pread(fd.get(), data.data(), data.size(), static_cast<off_t>(offset));
  } while (n < 0 && errno == EINTR);
  if (n < 0) return ErrnoStatus(errno, name);
  data.resize(static_cast<size_t>(n));
  return data;
}

bool LogFiles::WaitForMore(uint64_t attempt, uint64_t offset, Duration wait) {
  std::unique_lock lock(mutex_);
  const auto ready = [&] {
    const auto found = live_.find(attempt);
    return stop_ || found == live_.end() || found->second->size > offset;
  };
  grown_.wait_for(lock, std::chrono::nanoseconds(wait.ns), ready);
  if (live_.contains(attempt)) return !stop_;
  struct stat info;
  return fstatat(folder_.get(), FileName(attempt).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         static_cast<uint64_t>(info.st_size) > offset;
}

void LogFiles::MarkBehind(const std::shared_ptr<Log>& log) {
  if (!std::exchange(log->is_behind, true)) behind_.push_back(log);
  wake_syncer_.notify_one();
}

void LogFiles::SyncLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_syncer_.wait(lock, [&] { return stop_ || !behind_.empty(); });
    if (behind_.empty() || failed_) return;
    SyncBehind(lock);
    wake_syncer_.wait_for(lock, kSyncGap, [&] { return stop_; });
  }
}

void LogFiles::SyncBehind(std::unique_lock<std::mutex>& lock) {
  std::vector<std::shared_ptr<Log>> round;
  round.swap(behind_);
  for (const auto& log : round) {
    log->is_behind = false;
    const uint64_t size = log->size;
    std::vector<std::function<void(uint64_t)>> waiting;
    waiting.swap(log->waiting);
    const bool is_new = std::exchange(log->is_new, false);
    lock.unlock();
    const bool synced = fdatasync(log->fd.get()) == 0 && (!is_new || fsync(folder_.get()) == 0);
    const int error = synced ? 0 : errno;
    if (error != 0) {
      // What the kernel dropped can't be written again: never retry, never acknowledge.
      Fail(ErrnoStatus(error, "log: fdatasync"));
      lock.lock();
      return;
    }
    lock.lock();
    log->durable = size;
    lock.unlock();
    for (const auto& done : waiting) done(Acknowledged(size));
    lock.lock();
  }
}

void LogFiles::Fail(const absl::Status& status) {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(failed_, true)) return;
  }
  on_fatal_(status);
}

}  // namespace pyptox::controller
