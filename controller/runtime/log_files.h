// The logs of attempts as files `attempt-N.log` in one folder.
#ifndef PYPTOX_CONTROLLER_RUNTIME_LOG_FILES_H_
#define PYPTOX_CONTROLLER_RUNTIME_LOG_FILES_H_

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "controller/rpc/attempt_logs.h"

namespace pyptox::controller {

// Most bytes of one log: the agent's cap of 64 MiB (DESIGN section 10) and its marker line. Bytes past it are dropped.
inline constexpr uint64_t kMaxLogBytes = (64 << 20) + (64 << 10);

// Thread safe. One thread makes what was appended durable, at most every 200 ms, and then says so.
class LogFiles final : public AttemptLogs {
 public:
  // Makes the folder if it is missing. `on_fatal` is called once, from any thread, when a write or sync failed: what
  // was acknowledged may be gone, so the process must end.
  static absl::StatusOr<std::unique_ptr<LogFiles>> Open(const std::string& folder,
                                                        std::function<void(absl::Status)> on_fatal);
  // Syncs and calls what waits.
  ~LogFiles() override;

  // Only live attempts take bytes, and only from their agent. Both are idempotent. What an earlier process left in
  // the file is durable when Begin returns.
  absl::Status Begin(uint64_t attempt, const std::string& agent);
  void End(uint64_t attempt);
  // Durable bytes of a live attempt's log; 0 for another.
  uint64_t DurableBytes(uint64_t attempt);

  absl::Status Append(const std::string& agent, uint64_t attempt, uint64_t offset, std::string_view data) override;
  void WhenDurable(uint64_t attempt, std::function<void(uint64_t bytes)> done) override;
  absl::StatusOr<std::string> Read(uint64_t attempt, uint64_t offset, uint64_t max_bytes) override;
  bool WaitForMore(uint64_t attempt, uint64_t offset, Duration wait) override;

 private:
  struct Log {
    std::string agent;
    UniqueFd fd;
    uint64_t size = 0;
    uint64_t durable = 0;
    // Its name in the folder is not durable yet.
    bool is_new = false;
    // It stands in behind_.
    bool is_behind = false;
    std::vector<std::function<void(uint64_t)>> waiting;
  };

  LogFiles(UniqueFd folder, std::function<void(absl::Status)> on_fatal);
  // Queues a log for the next sync. Needs mutex_.
  void MarkBehind(const std::shared_ptr<Log>& log);
  void SyncLoop();
  // Syncs every log that is behind, without the lock, and calls those who waited for it.
  void SyncBehind(std::unique_lock<std::mutex>& lock);
  void Fail(const absl::Status& status);

  const UniqueFd folder_;
  const std::function<void(absl::Status)> on_fatal_;
  std::mutex mutex_;
  std::condition_variable grown_;
  std::condition_variable wake_syncer_;
  std::map<uint64_t, std::shared_ptr<Log>> live_;
  // Logs with bytes that are not durable yet, of ended attempts too.
  std::vector<std::shared_ptr<Log>> behind_;
  bool stop_ = false;
  bool failed_ = false;
  std::thread syncer_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_LOG_FILES_H_
