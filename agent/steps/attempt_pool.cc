#include "agent/steps/attempt_pool.h"

#include <utility>
#include <vector>

#include "agent/steps/attempt_run.h"

namespace pyptox::agent {

AttemptPool::AttemptPool(AttemptSettings settings, AttemptNews news)
    : settings_(std::move(settings)), news_(std::move(news)) {}

AttemptPool::~AttemptPool() { Stop(); }

void AttemptPool::Start(v1::Assign assign) {
  JoinEnded();
  std::lock_guard lock(mutex_);
  const uint64_t id = assign.attempt_id();
  if (running_.contains(id)) return;
  auto [at, added] = running_.emplace(id, std::make_unique<Running>());
  Running* running = at->second.get();
  running->thread = std::thread([this, running, assign = std::move(assign)] { Run(assign, running); });
}

void AttemptPool::Run(const v1::Assign& assign, Running* running) {
  v1::Evidence evidence = RunAttempt(settings_, news_, assign, running->stop);
  {
    std::lock_guard lock(mutex_);
    if (evidence.outcome().verdict() == v1::VERDICT_CANCELLED && !running->reason.empty()) {
      evidence.mutable_outcome()->set_reason(running->reason);
    }
  }
  news_.done(assign.attempt_id(), std::move(evidence));
  std::lock_guard lock(mutex_);
  running->over = true;
}

void AttemptPool::Kill(uint64_t attempt, const std::string& reason) {
  std::lock_guard lock(mutex_);
  const auto at = running_.find(attempt);
  if (at == running_.end()) return;
  if (at->second->reason.empty()) at->second->reason = reason;
  at->second->stop.Request();
}

void AttemptPool::JoinEnded() {
  std::vector<std::unique_ptr<Running>> ended;
  {
    std::lock_guard lock(mutex_);
    for (auto at = running_.begin(); at != running_.end();) {
      if (at->second->over) {
        ended.push_back(std::move(at->second));
        at = running_.erase(at);
      } else {
        ++at;
      }
    }
  }
  for (const auto& running : ended) running->thread.join();
}

void AttemptPool::Stop() {
  std::map<uint64_t, std::unique_ptr<Running>> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(running_);
    for (const auto& [id, running] : all) running->stop.Request();
  }
  for (const auto& [id, running] : all) running->thread.join();
}

}  // namespace pyptox::agent
