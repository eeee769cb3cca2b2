#include "controller/core/step.h"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "controller/core/handlers.h"
#include "controller/core/readiness.h"

namespace pyptox::controller {
namespace {

// The judge checks itself: after a stall of its own nobody else is late.
void ForgiveOwnStall(State& state, MonoTime now) {
  const Duration gap = now - state.last_step;
  state.last_step = now;
  if (gap <= kStallAfter) return;
  for (auto& [name, agent] : state.agents) agent.last_heard = now;
  state.leases.RenewAll(now);
  for (auto& [id, live] : state.attempts) live.backstop = live.backstop + gap;
  for (const uint64_t id : state.active) state.jobs.at(id).queue_deadline.ns += gap.ns;
}

}  // namespace

Effects Step(State& state, const Event& event, Now now) {
  Effects effects;
  Turn turn{state, effects, now};
  const Counters before = state.counters;
  ForgiveOwnStall(state, now.mono);
  std::visit([&](const auto& happened) { On(turn, happened); }, event);
  if (state.counters != before) effects.writes.push_back(PutCounters{state.counters});
  return effects;
}

MonoTime NextDeadline(const State& state) {
  MonoTime next{INT64_MAX};
  for (const auto& [name, entry] : state.agents) {
    if (entry.session != 0) next = std::min(next, entry.last_heard + kLostAfter);
  }
  for (const auto& [id, live] : state.attempts) {
    const AgentEntry& agent = state.agents.at(live.attempt.agent());
    next = std::min(next, agent.last_heard + kLostAfter);
    const bool is_running = state.jobs.at(live.attempt.job_id()).job.state() == v1::JOB_STATE_RUNNING;
    if (is_running) next = std::min(next, live.backstop);
  }
  for (const uint64_t id : state.active) {
    const JobEntry& entry = state.jobs.at(id);
    if (entry.job.state() != v1::JOB_STATE_QUEUED || IsHeldByOrder(state, entry)) continue;
    next = std::min(next, entry.queue_deadline);
  }
  return next;
}

}  // namespace pyptox::controller
