// A queue with a fixed capacity between threads: many producers, one consumer that takes batches.
#ifndef PYPTOX_BASE_BOUNDED_QUEUE_H_
#define PYPTOX_BASE_BOUNDED_QUEUE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "base/time_types.h"

namespace pyptox {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  // False when the queue is full or closed; the caller says RESOURCE_EXHAUSTED.
  [[nodiscard]] bool TryPush(T item) {
    std::lock_guard lock(mutex_);
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(item));
    ready_.notify_one();
    return true;
  }

  // Waits for room. False when the queue was closed.
  [[nodiscard]] bool Push(T item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return false;
    items_.push_back(std::move(item));
    ready_.notify_one();
    return true;
  }

  // Takes up to `max` items, waiting at most `wait` for the first. Empty: the time passed, or closed and drained.
  std::vector<T> PopBatch(size_t max, Duration wait) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, std::chrono::nanoseconds(wait.ns), [&] { return closed_ || !items_.empty(); });
    std::vector<T> batch;
    while (!items_.empty() && batch.size() < max) {
      batch.push_back(std::move(items_.front()));
      items_.pop_front();
    }
    room_.notify_all();
    return batch;
  }

  // After this nothing can be pushed; what is in the queue can still be popped.
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    ready_.notify_all();
    room_.notify_all();
  }

  bool closed() const {
    std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable room_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace pyptox

#endif  // PYPTOX_BASE_BOUNDED_QUEUE_H_
