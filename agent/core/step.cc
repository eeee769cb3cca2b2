#include "agent/core/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "agent/core/attempts.h"
#include "agent/core/journal.h"
#include "agent/core/on_controller.h"

namespace pyptox::agent {
namespace {

void CloseLink(State& state) {
  state.link = 0;
  state.welcomed = false;
}

// The attempt when it is running here; nullptr for another.
AttemptEntry* Running(State& state, uint64_t attempt_id) {
  const auto found = state.attempts.find(attempt_id);
  return found != state.attempts.end() && found->second.phase == Phase::kRunning ? &found->second : nullptr;
}

void On(Turn& turn, const JournalLoaded& event) { LoadJournal(turn, event); }

void On(Turn& turn, const LinkUp& event) {
  State& state = turn.state;
  state.link = event.link;
  state.welcomed = false;
  state.last_heard = turn.now.mono;
  state.resources.clear();
  for (const v1::Resource& resource : event.resources) state.resources.insert(resource.name());
  turn.effects.actions.push_back(Send{state.link, HelloMessage(state, event.resources, turn.now)});
}

void On(Turn& turn, const LinkDown& event) {
  if (event.link == turn.state.link) CloseLink(turn.state);
}

void On(Turn& turn, const ControllerSaid& event) {
  // What an older link still delivers is said again on this one.
  if (event.link != 0 && event.link == turn.state.link) OnControllerMessage(turn, event.message);
}

void On(Turn& turn, const AttemptBegan& event) {
  AttemptEntry* entry = Running(turn.state, event.attempt_id);
  if (!entry || std::exchange(entry->began, true) || entry->unwanted) return;
  SayStarted(turn, event.attempt_id);
}

void On(Turn& turn, const AttemptProgressed& event) {
  AttemptEntry* entry = Running(turn.state, event.attempt_id);
  if (!entry || entry->unwanted) return;
  entry->progress = event.progress;
  entry->progress_unsent = true;
  if (turn.state.welcomed && entry->next_progress <= turn.now.mono) SayProgress(turn, event.attempt_id, *entry);
}

void On(Turn& turn, const AttemptDone& event) {
  AttemptEntry* entry = Running(turn.state, event.attempt_id);
  if (!entry) return;
  if (entry->unwanted) {
    Drop(turn, event.attempt_id);
  } else {
    Finish(turn, event.attempt_id, event.evidence);
  }
  StartWaiting(turn);
}

void On(Turn& turn, const ArtifactsUploaded& event) {
  const auto found = turn.state.attempts.find(event.attempt_id);
  if (found == turn.state.attempts.end() || found->second.phase != Phase::kFinished) return;
  if (event.unreadable.empty()) return SayFinished(turn, found->second);
  // A result whose files are gone proves nothing.
  v1::Evidence evidence = found->second.finished.evidence();
  auto& artifacts = *evidence.mutable_artifacts();
  const std::set<std::string> gone(event.unreadable.begin(), event.unreadable.end());
  artifacts.erase(std::remove_if(artifacts.begin(), artifacts.end(),
                                 [&](const v1::FileEntry& file) { return gone.contains(file.sha256()); }),
                  artifacts.end());
  evidence.mutable_outcome()->set_verdict(v1::VERDICT_INFRA);
  evidence.mutable_outcome()->set_kind("artifact");
  evidence.mutable_outcome()->set_reason(
      fmt::format("{} artifacts could not be read any more, the first is {}", gone.size(), *gone.begin()));
  Finish(turn, event.attempt_id, std::move(evidence));
}

void On(Turn& turn, const DiskFloor& event) { turn.state.disk_low = event.below; }

void SendHeartbeat(Turn& turn) {
  State& state = turn.state;
  state.next_heartbeat = turn.now.mono + state.heartbeat_interval;
  v1::AgentMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_sequence(++state.heartbeats);
  for (const auto& [id, entry] : state.attempts) {
    if (!entry.unwanted && entry.phase != Phase::kInterrupted) heartbeat.add_attempt_ids(id);
  }
  Say(turn, std::move(message));
}

void On(Turn& turn, const Tick&) {
  State& state = turn.state;
  if (state.link != 0 && turn.now.mono >= state.last_heard + kLostAfter) {
    turn.effects.actions.push_back(
        DropLink{state.link, fmt::format("the controller was silent for {} s", kLostAfter.ns / Seconds(1).ns)});
    CloseLink(state);
  }
  if (!state.welcomed) return;
  if (turn.now.mono >= state.next_heartbeat) SendHeartbeat(turn);
  for (auto& [id, entry] : state.attempts) {
    if (entry.progress_unsent && !entry.unwanted && entry.next_progress <= turn.now.mono) SayProgress(turn, id, entry);
  }
}

}  // namespace

Effects Step(State& state, const Event& event, Now now) {
  Effects effects;
  Turn turn{state, effects, now};
  std::visit([&](const auto& happened) { On(turn, happened); }, event);
  return effects;
}

}  // namespace pyptox::agent
