// All that an agent's decisions rest on.
#ifndef PYPTOX_AGENT_CORE_STATE_H_
#define PYPTOX_AGENT_CORE_STATE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/link_settings.h"
#include "base/time_types.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// Progress is for people; more often than this nobody needs it.
inline constexpr Duration kProgressInterval = Milliseconds(500);

// Where an attempt is on this agent. Forgotten ones are not in the state at all.
enum class Phase {
  kWaiting,      // accepted; an older attempt here still holds one of its locks
  kRunning,      // started
  kFinished,     // its result is in the journal
  kInterrupted,  // an older epoch ended while it waited or ran
};

struct AttemptEntry {
  Phase phase = Phase::kWaiting;
  v1::Assign assign;             // with its spec while it waits
  v1::AttemptFinished finished;  // when kFinished
  bool unwanted = false;         // it is being killed, and its result will be dropped
  bool began = false;            // its first step has run
  v1::Progress progress;
  bool progress_unsent = false;
  MonoTime next_progress;
};

struct State {
  std::string agent;
  std::string version;
  std::string journal_id;
  uint64_t epoch = 0;
  std::map<uint64_t, AttemptEntry> attempts;
  std::map<std::string, uint64_t> tokens;  // highest seen, by lock key
  std::set<std::string> resources;         // names that are offered
  bool disk_low = false;

  uint64_t link = 0;      // number of the open one, 0 without
  bool welcomed = false;  // on it
  Duration heartbeat_interval = kHeartbeatInterval;
  uint64_t heartbeats = 0;  // sent on it
  MonoTime next_heartbeat;
  MonoTime last_heard;  // of the controller
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_STATE_H_
