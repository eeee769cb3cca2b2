// All that an agent's decisions rest on.
#ifndef PYPTOX_AGENT_CORE_STATE_H_
#define PYPTOX_AGENT_CORE_STATE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/time_types.h"
#include "pyptox/v1/agent.pb.h"

namespace pyptox::agent {

// Where an attempt is on this agent. Ended and acknowledged ones are not in the state at all.
enum class Phase {
  kWaiting,      // accepted; an older attempt here still holds one of its locks
  kRunning,      // started
  kFinished,     // its result is in the journal
  kInterrupted,  // an older epoch ended while it waited or ran
};

struct AttemptEntry {
  Phase phase = Phase::kWaiting;
  v1::Assign assign;             // until it has started, then without its spec
  v1::AttemptFinished finished;  // when kFinished
  bool unwanted = false;         // being killed; its result will be dropped
  bool began = false;            // its first step has run
  v1::Progress progress;
  bool progress_unsent = false;
  MonoTime progress_sent_at;
};

struct State {
  std::string agent;
  std::string version;
  std::string journal_id;
  uint64_t epoch = 0;
  std::map<uint64_t, AttemptEntry> attempts;
  std::map<std::string, uint64_t> tokens;  // highest seen, by lock key
  std::set<std::string> resources;         // names
  bool disk_low = false;

  uint64_t link = 0;      // number of the open one, 0 without
  bool welcomed = false;  // on it
  uint64_t heartbeats = 0;
  MonoTime next_heartbeat;
  MonoTime last_heard;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_CORE_STATE_H_
