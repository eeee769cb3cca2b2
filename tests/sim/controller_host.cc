#include "tests/sim/controller_host.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "controller/core/recover.h"
#include "controller/core/step.h"

namespace pyptox::sim {

using namespace controller;  // its events and effects, all of them

namespace {

constexpr size_t kBatch = 8;
constexpr double kCrashPercent = 0.4;  // of a batch, at each of the three places

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

Now ControllerHost::ReadClocks() const {
  return {sim_->now() + mono_offset_, WallTime{1'700'000'000'000'000'000 + sim_->now().ns}};
}

void ControllerHost::Start() {
  if (is_up()) return;
  ++life_;
  mono_offset_ = Seconds(sim_->chance.Between(1, 1'000'000));
  sim_->Log("controller starts, life {}", life_);
  auto start = MakeState(store_.Recover(), ReadClocks());
  if (!start.ok()) return sim_->Check(start.status(), "restart of the controller");
  state_ = std::make_unique<State>(std::move(start->state));
  queue_.clear();
  drain_is_due_ = false;
  stalled_until_ = sim_->now();
  graced_at_ = sim_->now();
  last_session_ = 0;
  sim_->Check(CheckInvariants(*state_), "controller after restart");
  if (!CommitAndAct(start->effects)) ScheduleTick();
}

void ControllerHost::Crash() {
  if (!is_up()) return;
  sim_->Log("controller crashes");
  state_.reset();
  links_.clear();
  callers_.clear();
  network_->CutAll();
  sim_->After(sim_->chance.Between(Milliseconds(100), Seconds(20)), [this] { Start(); });
}

void ControllerHost::Stall(Duration length) {
  if (!is_up()) return;
  sim_->Log("controller stalls for {} s", length.ns / Seconds(1).ns);
  stalled_until_ = std::max(stalled_until_, sim_->now() + length);
  if (length > kStallAfter) graced_at_ = std::max(graced_at_, stalled_until_);
}

void ControllerHost::ScheduleTick() {
  sim_->After(Seconds(1), [this, life = life_] {
    if (life != life_ || !is_up()) return;
    if (stalled_until_ > sim_->now()) {
      sim_->After(stalled_until_ - sim_->now(), [this, life] {
        if (life == life_ && is_up()) Post(Tick{}), ScheduleTick();
      });
      return;
    }
    Post(Tick{});
    ScheduleTick();
  });
}

void ControllerHost::Call(std::function<Event(uint64_t)> make_event, OnReply on_reply) {
  if (!is_up()) return;
  const uint64_t id = ++last_request_;
  callers_[id] = std::move(on_reply);
  Post(make_event(id));
}

void ControllerHost::Hear(const LinkPtr& link, const v1::AgentMessage& message) {
  if (!is_up() || link->controller_life != life_) return;
  if (stalled_until_ > sim_->now()) {
    // It lies in a socket; the tick at the end of the stall comes first.
    sim_->After(stalled_until_ - sim_->now() + Milliseconds(1), [this, link, message] { Hear(link, message); });
    return;
  }
  if (message.has_hello()) {
    if (link->session != 0) return;
    link->session = ++last_session_;
    links_[link->session] = link;
    Post(AgentHello{link->session, message.hello()});
    if (!link->open) sim_->After(Milliseconds(10), [this, link] { HearEnd(link); });
    return;
  }
  if (link->session == 0) return;
  if (message.has_finished()) {
    // What the gRPC handler does: a result waits for its artifacts.
    v1::ControllerMessage ack;
    for (const v1::FileEntry& file : message.finished().evidence().artifacts()) {
      if (!blobs_.contains(file.sha256())) ack.mutable_finished_ack()->add_missing_sha256(file.sha256());
    }
    if (ack.has_finished_ack()) {
      ack.mutable_finished_ack()->set_attempt_id(message.finished().attempt_id());
      return network_->SendToAgent(link, ack);
    }
  }
  Post(AgentSaid{link->session, message});
}

void ControllerHost::HearEnd(const LinkPtr& link) {
  if (is_up() && link->controller_life == life_ && link->session != 0) Post(AgentGone{link->session});
}

void ControllerHost::Post(Event event) {
  queue_.push_back(std::move(event));
  ScheduleDrain(sim_->chance.Between(Duration{0}, Milliseconds(20)));
}

void ControllerHost::ScheduleDrain(Duration delay) {
  if (std::exchange(drain_is_due_, true)) return;
  sim_->After(delay, [this, life = life_] {
    if (life != life_ || !is_up()) return;
    drain_is_due_ = false;
    if (stalled_until_ > sim_->now()) return ScheduleDrain(stalled_until_ - sim_->now());
    Drain();
  });
}

void ControllerHost::Drain() {
  Effects batch;
  for (size_t taken = 0; taken < kBatch && !queue_.empty(); ++taken) {
    const Event event = std::move(queue_.front());
    queue_.pop_front();
    const Now now = ReadClocks();
    if (sim_->options.bug == PlantedBug::kNoGraceAfterStall) state_->last_step = now.mono;
    Effects effects = Step(*state_, event, now);
    sim_->Check(CheckInvariants(*state_), "controller");
    if (std::holds_alternative<Tick>(event) && NextDeadline(*state_) <= now.mono) {
      sim_->Fail("a Tick left a deadline in the past");
    }
    std::move(effects.writes.begin(), effects.writes.end(), std::back_inserter(batch.writes));
    std::move(effects.actions.begin(), effects.actions.end(), std::back_inserter(batch.actions));
  }
  if (!CommitAndAct(batch) && !queue_.empty()) ScheduleDrain(Milliseconds(1));
}

bool ControllerHost::CommitAndAct(const Effects& effects) {
  const auto crashes_here = [&](size_t size) {
    if (sim_->quiet || size == 0 || !sim_->chance.Percent(kCrashPercent)) return false;
    Crash();
    return true;
  };
  const bool acts_first = sim_->options.bug == PlantedBug::kActBeforeCommit;
  if (acts_first) {
    for (const Action& action : effects.actions) Act(action);
  }
  if (crashes_here(effects.writes.size())) return true;
  CheckWrites(effects.writes);
  store_.Commit(effects.writes);
  if (acts_first) return false;
  for (size_t i = 0; i < effects.actions.size(); ++i) {
    if (crashes_here(effects.actions.size())) return true;
    Act(effects.actions[i]);
  }
  return false;
}

void ControllerHost::CheckWrites(const std::vector<Write>& writes) {
  for (const Write& write : writes) {
    const auto* put = std::get_if<PutAttempt>(&write);
    if (!put || put->attempt.state() != v1::ATTEMPT_STATE_ENDED) continue;
    const v1::Outcome& outcome = put->attempt.outcome();
    sim_->Log("attempt {} of job {} ends {}({})", put->attempt.id(), put->attempt.job_id(),
              v1::Verdict_Name(outcome.verdict()), outcome.kind());
    if (outcome.verdict() != v1::VERDICT_LOST) continue;
    if (sim_->now() > sim_->settled_at) sim_->Fail("attempt {} was lost in the quiet time", put->attempt.id());
    const bool by_silence = outcome.kind() == "agent" || outcome.kind() == "unnamed";
    if (by_silence && sim_->now() < graced_at_ + kLostAfter) {
      sim_->Fail("attempt {} was lost before the grace after the controller's own stall was over", put->attempt.id());
    }
  }
}

void ControllerHost::Act(const Action& action) {
  std::visit(Overloaded{
                 [&](const Reply& reply) {
                   auto caller = callers_.extract(reply.request_id);
                   if (caller.empty()) return sim_->Fail("call {} was answered twice", reply.request_id);
                   caller.mapped()(reply);
                 },
                 [&](const Send& send) {
                   if (const auto at = links_.find(send.session_id); at != links_.end()) {
                     network_->SendToAgent(at->second, send.message);
                   }
                 },
                 [&](const CloseSession& close) {
                   sim_->Log("session {} is closed: {}", close.session_id, std::string(close.status.message()));
                   if (const auto at = links_.find(close.session_id); at != links_.end()) network_->Cut(at->second);
                 },
                 [&](const JobChanged&) {},
             },
             action);
}

}  // namespace pyptox::sim
