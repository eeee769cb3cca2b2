#include "controller/runtime/reply_table.h"

namespace pyptox::controller {

std::pair<uint64_t, std::future<Reply>> ReplyTable::Open() {
  std::lock_guard lock(mutex_);
  const uint64_t id = ++last_;
  std::promise<Reply>& promise = waiting_[id];
  std::future<Reply> future = promise.get_future();
  if (!closed_.ok()) {
    promise.set_value({id, closed_, {}});
    waiting_.erase(id);
  }
  return {id, std::move(future)};
}

void ReplyTable::Answer(Reply reply) {
  std::lock_guard lock(mutex_);
  const auto found = waiting_.find(reply.request_id);
  if (found == waiting_.end()) return;
  found->second.set_value(std::move(reply));
  waiting_.erase(found);
}

void ReplyTable::Close(const absl::Status& error) {
  std::lock_guard lock(mutex_);
  closed_ = error;
  for (auto& [id, promise] : waiting_) promise.set_value({id, error, {}});
  waiting_.clear();
}

}  // namespace pyptox::controller
