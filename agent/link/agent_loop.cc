#include "agent/link/agent_loop.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "agent/core/journal.h"
#include "agent/core/step.h"
#include "base/file_io.h"

namespace pyptox::agent {
namespace {

constexpr size_t kQueueCapacity = 4096;
constexpr size_t kBatch = 256;
constexpr Duration kTick = Milliseconds(250);
constexpr Duration kDiskLookInterval = Seconds(2);
constexpr Duration kUploadRetry = Seconds(2);
// A journal above this is rewritten when the rewritten one would be much smaller: after forgetting.
constexpr uint64_t kCompactAboveBytes = 8 << 20;
// How long cached artifacts stay: sources of a suite that is run every week are not fetched again.
constexpr Duration kCollectInterval = Seconds(6 * 3600);
constexpr Duration kKeepCached = Seconds(7 * 24 * 3600);
constexpr Duration kKeepCachedDiskLow = Seconds(3600);

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

}  // namespace

AgentLoop::AgentLoop(AgentLoopOptions options, const AgentLoopPorts& ports)
    : options_(std::move(options)), ports_(ports), events_(kQueueCapacity) {}

void AgentLoop::Post(Event event) {
  if (!events_.Push(std::move(event))) return;  // closed: the agent stops
}

LinkEvents AgentLoop::Events() {
  LinkEvents events;
  events.up = [this](uint64_t link) {
    options_.note(fmt::format("link {} is open", link));
    Post(LinkUp{link, options_.resources()});
  };
  events.said = [this](uint64_t link, v1::ControllerMessage message) {
    Post(ControllerSaid{link, std::move(message)});
  };
  events.down = [this](uint64_t link, const absl::Status& why) {
    options_.note(fmt::format("link {} ended: {}", link, why.ToString()));
    Post(LinkDown{link});
  };
  events.unreachable = [this](const std::string& target) {
    options_.note(fmt::format("no controller answers at {}; trying again until one does", target));
  };
  return events;
}

absl::Status AgentLoop::Run(LinkClient* link) {
  link_client_ = link;
  JournalLoaded loaded{options_.agent, options_.version, ports_.journal->id(), ports_.journal->epoch(),
                       ports_.journal->TakeEntries()};
  absl::Status status = Handle(loaded);
  if (!status.ok()) return status;
  Recover();
  MonoTime next_tick = ReadClocks().mono;
  link->Start();
  while (!events_.closed()) {
    for (const Event& event : events_.PopBatch(kBatch, kTick)) {
      if (events_.closed()) break;
      status = Handle(event);
      if (!status.ok()) return status;
    }
    const MonoTime now = ReadClocks().mono;
    if (now < next_tick || events_.closed()) continue;
    next_tick = now + kTick;
    status = WatchDisk();
    if (status.ok()) status = Handle(Tick{});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void AgentLoop::Stop() {
  events_.Close();
  chores_.Stop();
}

absl::Status AgentLoop::Handle(const Event& event) {
  const Effects effects = Step(state_, event, ReadClocks());
  absl::Status status = ports_.journal->Append(effects.journal);
  if (!status.ok()) return status;
  for (const Action& action : effects.actions) Perform(action);
  if (!effects.journal.empty() && ports_.journal->size() > kCompactAboveBytes) {
    const std::vector<JournalEntry> shortest = CompactJournal(state_);
    uint64_t bytes = 0;
    for (const JournalEntry& entry : shortest) {
      if (const auto* finished = std::get_if<Finished>(&entry)) bytes += finished->finished.ByteSizeLong();
      if (const auto* accepted = std::get_if<Accepted>(&entry)) bytes += accepted->assign.ByteSizeLong();
    }
    if (2 * bytes < ports_.journal->size()) return ports_.journal->Rewrite(shortest);
  }
  return absl::OkStatus();
}

// After a restart: what is left of attempts that did not finish is removed; logs of those that did are sent on.
void AgentLoop::Recover() {
  const std::string top = options_.work_root + "/attempts";
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(top.c_str()), &closedir);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    uint64_t attempt = 0;
    for (const auto& [id, known] : state_.attempts) {
      if (known.phase == Phase::kFinished && name == std::to_string(id)) attempt = id;
    }
    if (attempt == 0) {
      const std::string path = fmt::format("{}/{}", top, name);
      chores_.Add([this, path] {
        const absl::Status status = RemoveTree(path);
        if (!status.ok()) options_.note(fmt::format("an old folder stays: {}", status.ToString()));
      });
      continue;
    }
    const std::string log = FolderOf(attempt) + "/log/output.log";
    struct stat info {};
    if (stat(log.c_str(), &info) != 0) continue;
    ports_.logs->Add(attempt, log);
    ports_.logs->Grew(attempt, static_cast<uint64_t>(info.st_size));
  }
}

void AgentLoop::Perform(const Action& action) {
  std::visit(Overloaded{
                 [this](const StartAttempt& start) {
                   ports_.logs->Add(start.assign.attempt_id(), FolderOf(start.assign.attempt_id()) + "/log/output.log");
                   ports_.executor->Start(start.assign);
                 },
                 [this](const KillAttempt& kill) { ports_.executor->Kill(kill.attempt_id, kill.reason); },
                 [this](const Send& send) { link_client_->Send(send.link, send.message); },
                 [this](const UploadThenResend& upload) { Upload(upload.attempt_id, upload.sha256, state_.link); },
                 [this](const RemoveAttemptFolder& remove) { RemoveFolder(remove.attempt_id); },
                 [this](const DropLink& drop) {
                   options_.note(fmt::format("link {} is dropped: {}", drop.link, drop.reason));
                   link_client_->Drop(drop.link);
                 },
             },
             action);
}

void AgentLoop::Upload(uint64_t attempt, std::vector<std::string> sha256, uint64_t link) {
  chores_.Add([this, attempt, sha256 = std::move(sha256), link] {
    std::vector<std::string> unreadable;
    const absl::Status status = ports_.artifacts->Upload(
        sha256, [this] { return events_.closed(); }, &unreadable);
    if (status.ok()) {
      Post(ArtifactsUploaded{attempt, std::move(unreadable)});
    } else if (link_client_->IsOpen(link)) {
      options_.note(fmt::format("artifacts of attempt {} wait: {}", attempt, status.ToString()));
      chores_.Add([this, attempt, sha256, link] { Upload(attempt, sha256, link); }, kUploadRetry);
    }
  });
}

void AgentLoop::RemoveFolder(uint64_t attempt) {
  ports_.logs->Remove(attempt);
  chores_.Add([this, path = FolderOf(attempt)] {
    const absl::Status status = RemoveTree(path);
    if (!status.ok()) options_.note(fmt::format("a folder stays: {}", status.ToString()));
  });
}

absl::Status AgentLoop::WatchDisk() {
  const MonoTime now = ReadClocks().mono;
  if (now < next_disk_look_) return absl::OkStatus();
  next_disk_look_ = now + kDiskLookInterval;
  const absl::StatusOr<uint64_t> free = FreeBytes(options_.work_root);
  // An unreadable figure is unknown, and unknown is no room.
  const bool low = !free.ok() || *free < options_.free_space_floor;
  const bool changed = std::exchange(disk_low_, low) != low;
  if (now >= next_collection_ || (changed && low)) CollectBlobs();
  if (!changed) return absl::OkStatus();
  options_.note(low ? fmt::format("free space is below the floor of {} bytes", options_.free_space_floor)
                    : "free space is above the floor again");
  return Handle(DiskFloor{low});
}

void AgentLoop::CollectBlobs() {
  next_collection_ = ReadClocks().mono + kCollectInterval;
  std::set<Digest> keep;
  for (const auto& [id, attempt] : state_.attempts) {
    for (const v1::FileEntry& file : attempt.finished.evidence().artifacts()) {
      const absl::StatusOr<Digest> digest = Digest::FromHex(file.sha256());
      if (digest.ok()) keep.insert(*digest);
    }
  }
  chores_.Add([this, keep = std::move(keep), age = disk_low_ ? kKeepCachedDiskLow : kKeepCached] {
    const absl::StatusOr<uint64_t> removed = ports_.blobs->Collect(keep, age);
    if (!removed.ok()) options_.note(fmt::format("cached artifacts stay: {}", removed.status().ToString()));
  });
}

std::string AgentLoop::FolderOf(uint64_t attempt) const {
  return fmt::format("{}/attempts/{}", options_.work_root, attempt);
}

}  // namespace pyptox::agent
