// One thread that does slow things one after the other.
#ifndef PYPTOX_AGENT_LINK_CHORES_H_
#define PYPTOX_AGENT_LINK_CHORES_H_

#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "base/time_types.h"

namespace pyptox::agent {

class Chores {
 public:
  Chores();
  // Stops.
  ~Chores();
  // Runs it on the thread, not before `delay` has passed. Dropped after Stop.
  void Add(std::function<void()> chore, Duration delay = {});
  // Waits for the chore that runs; drops those that wait.
  void Stop();

 private:
  struct Entry {
    MonoTime due;
    std::function<void()> chore;
  };
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> entries_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_CHORES_H_
