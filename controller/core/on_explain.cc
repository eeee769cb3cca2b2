#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/core/handlers.h"
#include "controller/core/readiness.h"
#include "matrix/verdict.h"

namespace pyptox::controller {
namespace {

using Reasons = std::vector<std::string>;

void ExplainResource(const State& state, const JobEntry& entry, Reasons* reasons) {
  const std::string& name = entry.job.resource();
  if (const auto holder = state.holders.find(name); holder != state.holders.end()) {
    const uint64_t job_id = state.attempts.at(holder->second).attempt.job_id();
    reasons->push_back(fmt::format("resource {} is held by job {}", name, job_id));
  }
  for (const locks::Blocker& blocker : state.leases.BlockersOf(entry.job.id())) {
    if (blocker.waiting)
      reasons->push_back(fmt::format("job {} is before it in the queue for {}", blocker.holder, name));
  }
}

void ExplainQueued(const State& state, const JobEntry& entry, Reasons* reasons) {
  *reasons = HoldsOn(state, entry);
  ExplainResource(state, entry, reasons);
  if (entry.infra_attempts > 0) {
    reasons->push_back(
        fmt::format("{} of at most {} attempts ended INFRA", entry.infra_attempts, entry.job.max_attempts()));
  }
  if (entry.lost_attempts > 0) reasons->push_back(fmt::format("{} attempts were LOST", entry.lost_attempts));
}

void ExplainLive(const State& state, const JobEntry& entry, Now now, Reasons* reasons) {
  const v1::Attempt& attempt = state.attempts.at(entry.live_attempt).attempt;
  const AgentEntry& agent = state.agents.at(attempt.agent());
  if (agent.session == 0) {
    const int64_t left_ns = (agent.last_heard + kLostAfter - now.mono).ns;
    reasons->push_back(fmt::format("agent {} is not connected; attempt {} is lost in {} s unless it comes back",
                                   attempt.agent(), attempt.id(), std::max<int64_t>(0, left_ns) / Seconds(1).ns));
  }
  if (entry.job.state() == v1::JOB_STATE_CANCELLING) {
    reasons->push_back(fmt::format("agent {} was asked to end attempt {}", attempt.agent(), attempt.id()));
  } else if (attempt.state() == v1::ATTEMPT_STATE_ASSIGNED) {
    reasons->push_back(
        fmt::format("attempt {} was given to agent {}, which has not begun it", attempt.id(), attempt.agent()));
  } else {
    const v1::Progress& progress = entry.job.progress();
    reasons->push_back(fmt::format("attempt {} runs on agent {}: {}, {} of {} cases done", attempt.id(),
                                   attempt.agent(), progress.step().empty() ? "first step" : progress.step(),
                                   progress.cases_done(), progress.cases_total()));
  }
}

}  // namespace

void On(Turn& turn, const Explain& event) {
  const auto found = turn.state.jobs.find(event.job_id);
  if (found == turn.state.jobs.end()) {
    turn.effects.actions.push_back(
        Reply{event.request_id, absl::NotFoundError(fmt::format("there is no job {}", event.job_id)), {}});
    return;
  }
  const JobEntry& entry = found->second;
  Reasons reasons;
  if (entry.job.state() == v1::JOB_STATE_DONE) {
    const v1::Outcome& outcome = entry.job.outcome();
    reasons.push_back(fmt::format("it is done: {}{}{}", matrix::OutcomeWord(outcome),
                                  outcome.reason().empty() ? "" : ", ", outcome.reason()));
  } else if (entry.job.state() == v1::JOB_STATE_QUEUED) {
    ExplainQueued(turn.state, entry, &reasons);
  } else {
    ExplainLive(turn.state, entry, turn.now, &reasons);
  }
  v1::ExplainJobResponse response;
  response.set_state(entry.job.state());
  *response.mutable_reasons() = {reasons.begin(), reasons.end()};
  turn.effects.actions.push_back(Reply{event.request_id, absl::OkStatus(), std::move(response)});
}

}  // namespace pyptox::controller
