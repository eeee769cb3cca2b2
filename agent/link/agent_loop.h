// The shell around the agent's core: one thread takes events in batches, steps the core, makes the journal durable, and
// only then acts.
#ifndef PYPTOX_AGENT_LINK_AGENT_LOOP_H_
#define PYPTOX_AGENT_LINK_AGENT_LOOP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/core/effect.h"
#include "agent/core/event.h"
#include "agent/core/state.h"
#include "agent/link/artifact_client.h"
#include "agent/link/attempt_executor.h"
#include "agent/link/chores.h"
#include "agent/link/journal.h"
#include "agent/link/link_client.h"
#include "agent/link/log_sender.h"
#include "base/blob_store.h"
#include "base/bounded_queue.h"

namespace pyptox::agent {

struct AgentLoopOptions {
  std::string agent;
  std::string version;
  // Attempts' folders are WORK_ROOT/attempts/ID; their logs are log/output.log in there.
  std::string work_root;
  // Of free space under work_root.
  uint64_t free_space_floor = 0;
  // Observes the resources anew; called for every stream.
  std::function<std::vector<v1::Resource>()> resources;
  // For the log: one line for people.
  std::function<void(const std::string&)> note;
};

// What the loop works with. All outlive it.
struct AgentLoopPorts {
  Journal* journal;
  AttemptExecutor* executor;
  ArtifactClient* artifacts;
  BlobStore* blobs;
  LogSender* logs;
};

class AgentLoop {
 public:
  AgentLoop(AgentLoopOptions options, const AgentLoopPorts& ports);

  // From any thread; waits while the queue is full, does nothing after Stop.
  void Post(Event event);
  // For LinkClient: they post.
  LinkEvents Events();

  // Removes folders of attempts that are over, then works until Stop. `link` outlives the call. An error is the
  // journal's: the agent can promise nothing any more and must end.
  absl::Status Run(LinkClient* link);
  // From any thread. Events still in the queue are not looked at.
  void Stop();

 private:
  absl::Status Handle(const Event& event);
  void Recover();
  void Perform(const Action& action);
  void Upload(uint64_t attempt, std::vector<std::string> sha256, uint64_t link);
  void RemoveFolder(uint64_t attempt);
  absl::Status WatchDisk();
  void CollectBlobs();
  std::string FolderOf(uint64_t attempt) const;

  const AgentLoopOptions options_;
  const AgentLoopPorts ports_;
  LinkClient* link_client_ = nullptr;
  BoundedQueue<Event> events_;
  State state_;
  // Slow work that must not hold the loop up.
  Chores chores_;
  bool disk_low_ = false;
  MonoTime next_disk_look_;
  MonoTime next_collection_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_LINK_AGENT_LOOP_H_
