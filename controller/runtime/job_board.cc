#include "controller/runtime/job_board.h"

#include <chrono>
#include <utility>

namespace pyptox::controller {

// Holds the newest state that its owner has not taken yet.
class JobBoard::BoardWatch final : public JobWatch {
 public:
  BoardWatch(JobBoard* board, uint64_t job_id) : board_(board) {
    std::lock_guard lock(board_->mutex_);
    place_ = board_->watches_.emplace(job_id, this);
  }
  ~BoardWatch() override {
    std::lock_guard lock(board_->mutex_);
    board_->watches_.erase(place_);
  }

  std::optional<v1::Job> Next(Duration wait) override {
    std::unique_lock lock(board_->mutex_);
    board_->changed_.wait_for(lock, std::chrono::nanoseconds(wait.ns), [&] { return newest_.has_value(); });
    return std::exchange(newest_, std::nullopt);
  }

 private:
  friend class JobBoard;
  JobBoard* const board_;
  std::multimap<uint64_t, BoardWatch*>::iterator place_;
  std::optional<v1::Job> newest_;
};

std::unique_ptr<JobWatch> JobBoard::Watch(uint64_t job_id) { return std::make_unique<BoardWatch>(this, job_id); }

void JobBoard::Publish(const v1::Job& job) {
  std::lock_guard lock(mutex_);
  const auto [first, last] = watches_.equal_range(job.id());
  if (first == last) return;
  for (auto it = first; it != last; ++it) it->second->newest_ = job;
  changed_.notify_all();
}

}  // namespace pyptox::controller
