// Calls that wait for the loop's answer, by number.
#ifndef PYPTOX_CONTROLLER_RUNTIME_REPLY_TABLE_H_
#define PYPTOX_CONTROLLER_RUNTIME_REPLY_TABLE_H_

#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "controller/core/effect.h"

namespace pyptox::controller {

// Thread safe.
class ReplyTable {
 public:
  // A number never used before, and where its answer will come.
  std::pair<uint64_t, std::future<Reply>> Open();
  // Answers one call; an unknown number is ignored.
  void Answer(Reply reply);
  // Answers everybody who still waits, now and later, with this error.
  void Close(const absl::Status& error);

 private:
  std::mutex mutex_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::promise<Reply>> waiting_;
  absl::Status closed_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_REPLY_TABLE_H_
