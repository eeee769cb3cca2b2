// Which bytes of which attempt's log travel next. The log files are the queue: a byte is sent from the disk and
// forgotten only with the attempt. Thread safe.
#ifndef PYPTOX_AGENT_LINK_LOG_SENDER_H_
#define PYPTOX_AGENT_LINK_LOG_SENDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// Bytes of one log that may be under way without an acknowledgement.
inline constexpr uint64_t kLogWindowBytes = 4 << 20;

class LogSender {
 public:
  // `wake` is called, without locks held, when Next may have something; set it before anything else.
  void SetWake(std::function<void()> wake) { wake_ = std::move(wake); }

  // A log that only grows, at `path`. Bytes in the file are final.
  void Add(uint64_t attempt, const std::string& path);
  // It has this many bytes now.
  void Grew(uint64_t attempt, uint64_t size);
  void Remove(uint64_t attempt);

  // A new stream: nothing is sent before its Welcome says what the controller has.
  void OnLinkUp();
  void OnWelcome(const v1::Welcome& welcome);
  void OnAck(const v1::LogAck& ack);

  // At most 1 MiB of the next log in turn, within its window.
  std::optional<v1::LogChunk> Next();
  // At most 1 MiB of this log, whatever its window: used before its result is sent, which must come behind it.
  std::optional<v1::LogChunk> NextOf(uint64_t attempt);
  // Whether Next would give something.
  bool HasWork();

 private:
  struct Log {
    std::string path;
    uint64_t size = 0;
    uint64_t sent = 0;
    uint64_t acknowledged = 0;
    // The file can't be read: what was sent is all there will be.
    bool unreadable = false;
  };
  static bool MaySend(const Log& log) {
    return !log.unreadable && log.sent < log.size && log.sent < log.acknowledged + kLogWindowBytes;
  }
  std::optional<v1::LogChunk> Take(uint64_t attempt, Log* log);

  std::function<void()> wake_;
  std::mutex mutex_;
  bool welcomed_ = false;
  std::map<uint64_t, Log> logs_;
  // Where the round of Next goes on.
  uint64_t turn_ = 0;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_LOG_SENDER_H_
