// The log of one attempt: a file that grows from byte 0 while the attempt runs, and never past its cap. The first
// `head` bytes are in the file at once; of what comes later the last `tail` bytes are held in memory and follow at the
// end, behind a line that says how many bytes were left out. Bytes are kept as they are.
//
// Append and Finish from one thread; path, size and counters from any.
#ifndef PYPTOX_AGENT_EXEC_CAPPED_LOG_H_
#define PYPTOX_AGENT_EXEC_CAPPED_LOG_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sha256.h"
#include "base/unique_fd.h"

namespace pyptox::agent {

// Half of the 64 MiB of DESIGN section 10.
inline constexpr uint64_t kLogHeadBytes = 32 << 20;
inline constexpr uint64_t kLogTailBytes = 32 << 20;

class CappedLog {
 public:
  // Makes the file (0600); ALREADY_EXISTS when it is there.
  static absl::StatusOr<std::unique_ptr<CappedLog>> Create(const std::string& path, uint64_t head = kLogHeadBytes,
                                                           uint64_t tail = kLogTailBytes);

  // RESOURCE_EXHAUSTED when the disk is full; the log then ends there and later calls give the same error.
  absl::Status Append(std::string_view data);
  // Writes what is held back. Nothing can be appended afterwards.
  absl::Status Finish();

  const std::string& path() const { return path_; }
  // Bytes in the file now; they never change.
  uint64_t size() const { return size_.load(); }
  // Bytes that were appended.
  uint64_t produced() const { return produced_.load(); }
  // Of those, bytes that the file has (all but the marker line), right after Finish.
  uint64_t kept() const { return kept_.load(); }
  // Of what was written, right after Finish: a file that has another was changed by somebody else.
  const Digest& digest() const { return digest_; }

 private:
  CappedLog(std::string path, UniqueFd fd, uint64_t head, uint64_t tail)
      : path_(std::move(path)), fd_(std::move(fd)), head_(head), tail_(tail) {}
  absl::Status Write(std::string_view data);
  void Hold(std::string_view data);

  const std::string path_;
  UniqueFd fd_;
  const uint64_t head_, tail_;
  // A ring once it has `tail_` bytes; `oldest_` is where it starts then.
  std::string ring_;
  size_t oldest_ = 0;
  absl::Status status_;
  Sha256 hash_;
  Digest digest_;
  std::atomic<uint64_t> size_{0}, produced_{0}, kept_{0};
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_CAPPED_LOG_H_
