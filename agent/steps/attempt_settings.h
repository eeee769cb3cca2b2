// What all attempts of this agent share. Pointers are not owned and outlive every attempt.
#ifndef PYPTOX_AGENT_STEPS_ATTEMPT_SETTINGS_H_
#define PYPTOX_AGENT_STEPS_ATTEMPT_SETTINGS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/exec/file_digests.h"
#include "agent/exec/process_spec.h"
#include "backends/api/backend.h"
#include "base/blob_store.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

struct AttemptSettings {
  // Absolute, links resolved: opened files are named by their real paths. Attempts live in WORK_ROOT/attempts/ID.
  std::string work_root;
  // Absolute, links resolved: pyptox-runner and aarch64/pyptox-runner.
  std::string runner_dir;
  // PATH and HOME of every step.
  std::string path;
  std::string home;
  TreeMode mode = TreeMode::kTraced;
  // Between TERM and KILL.
  Duration kill_grace = Seconds(10);
  // Bytes of free space below which no attempt starts.
  uint64_t free_space_floor = 0;
  // The backend of each resource, by the resource's name.
  std::map<std::string, const backends::Backend*> resources;
  FileDigests* digests = nullptr;
  BlobStore* blobs = nullptr;
  // Observes a resource anew.
  std::function<std::vector<v1::Fact>(const std::string& resource)> facts;
  // Brings blobs from and to the controller; both look at `stop` now and then.
  std::function<absl::Status(const std::vector<v1::FileEntry>&, const std::function<bool()>& stop)> fetch;
  std::function<absl::Status(const std::vector<std::string>& sha256, const std::function<bool()>& stop)> upload;
};

// News of attempts, from their threads.
struct AttemptNews {
  std::function<void(uint64_t attempt)> began;
  std::function<void(uint64_t attempt, v1::Progress progress)> progressed;
  // Bytes in its log file now.
  std::function<void(uint64_t attempt, uint64_t size)> log_grew;
  // Exactly once, last.
  std::function<void(uint64_t attempt, v1::Evidence evidence)> done;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_ATTEMPT_SETTINGS_H_
