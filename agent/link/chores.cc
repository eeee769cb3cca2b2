#include "agent/link/chores.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pyptox::agent {

Chores::Chores() : thread_([this] { Run(); }) {}

Chores::~Chores() { Stop(); }

void Chores::Add(std::function<void()> chore, Duration delay) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    entries_.push_back({ReadClocks().mono + delay, std::move(chore)});
  }
  changed_.notify_all();
}

void Chores::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Chores::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto next = std::min_element(entries_.begin(), entries_.end(),
                                       [](const Entry& a, const Entry& b) { return a.due < b.due; });
    if (next == entries_.end()) {
      changed_.wait(lock);
      continue;
    }
    const Duration left = next->due - ReadClocks().mono;
    if (left.ns > 0) {
      changed_.wait_for(lock, std::chrono::nanoseconds(left.ns));
      continue;
    }
    const std::function<void()> chore = std::move(next->chore);
    entries_.erase(next);
    lock.unlock();
    chore();
    lock.lock();
  }
}

}  // namespace pyptox::agent
