#include "tests/sim/agent_host.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "agent/core/journal.h"
#include "agent/core/step.h"

namespace pyptox::sim {

using namespace agent;  // its events and effects, all of them

namespace {

constexpr double kCrashPercent = 0.4;  // of a step, at each of its three places
constexpr size_t kCompactAfter = 30;   // journal entries

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

}  // namespace

AgentHost::AgentHost(Simulation* sim, Network* network, ControllerHost* controller, Truth* truth, size_t index,
                     std::vector<std::string> resources)
    : sim_(sim),
      network_(network),
      controller_(controller),
      truth_(truth),
      index_(index),
      resources_(std::move(resources)),
      clock_skew_ns_(Seconds(3600 * sim->chance.Between(-26, 26)).ns) {
  LoseJournal();
}

void AgentHost::LoseJournal() {
  journal_.clear();
  epoch_ = 0;
  journal_id_ = fmt::format("{:016x}{:016x}", index_, ++journals_);
}

void AgentHost::Start() {
  if (is_up()) return;
  ++life_;
  ++epoch_;
  mono_offset_ = Seconds(sim_->chance.Between(1, 1'000'000));
  frozen_until_ = sim_->now();
  state_ = std::make_unique<State>();
  sim_->Log("agent {} starts, epoch {}", index_, epoch_);
  Handle(JournalLoaded{fmt::format("agent{}", index_), "sim", journal_id_, epoch_, journal_});
  if (!is_up()) return;
  TickForEver();
  TryConnect();
}

void AgentHost::Crash() {
  if (!is_up()) return;
  sim_->Log("agent {} crashes", index_);
  state_.reset();
  for (const auto& [id, execution] : executions_) truth_->End(id);  // they die with their tracer
  executions_.clear();
  link_.reset();
  network_->CutLinksOf(index_);
  sim_->After(sim_->chance.Between(Milliseconds(100), Seconds(60)), [this] { Start(); });
}

void AgentHost::Freeze(Duration length) {
  sim_->Log("agent {} freezes for {} s", index_, length.ns / Seconds(1).ns);
  frozen_until_ = std::max(frozen_until_, sim_->now() + length);
}

void AgentHost::Isolate(Duration length) {
  sim_->Log("agent {} is cut off for {} s", index_, length.ns / Seconds(1).ns);
  isolated_until_ = std::max(isolated_until_, sim_->now() + length);
  network_->CutLinksOf(index_);
}

void AgentHost::Later(Duration delay, std::function<void()> action) {
  sim_->After(delay, [this, life = life_, action = std::move(action)] {
    if (life != life_ || !is_up()) return;
    if (frozen_until_ > sim_->now()) return Later(frozen_until_ - sim_->now(), action);
    action();
  });
}

void AgentHost::TickForEver() {
  Later(Seconds(1), [this] {
    Handle(Tick{});
    if (is_up()) TickForEver();
  });
}

void AgentHost::TryConnect() {
  if (!link_ && controller_->is_up() && isolated_until_ <= sim_->now()) {
    link_ = network_->Open(index_, ++last_link_, life_, controller_->life());
    LinkUp up{link_->number, {}};
    for (const std::string& name : resources_) up.resources.emplace_back().set_name(name);
    Handle(up);
  }
  if (is_up()) Later(sim_->chance.Between(Milliseconds(500), Seconds(5)), [this] { TryConnect(); });
}

void AgentHost::Hear(const LinkPtr& link, const v1::ControllerMessage& message) {
  if (link->agent_life != life_) return;
  Later(Duration{0}, [this, link, message] { Handle(ControllerSaid{link->number, message}); });
}

void AgentHost::HearEnd(const LinkPtr& link) {
  if (link->agent_life != life_) return;
  Later(Duration{0}, [this, link] {
    if (link_ == link) link_.reset();
    Handle(LinkDown{link->number});
  });
}

bool AgentHost::CrashesHere() {
  if (sim_->quiet || !sim_->chance.Percent(kCrashPercent)) return false;
  Crash();
  return true;
}

void AgentHost::Handle(const Event& event) {
  if (!is_up()) return;
  const Now now{sim_->now() + mono_offset_, WallTime{1'700'000'000'000'000'000 + sim_->now().ns + clock_skew_ns_}};
  if (sim_->options.bug == PlantedBug::kTokensNotChecked) {
    state_->tokens.clear();
    for (const auto& [id, entry] : state_->attempts) {
      for (const auto& lock : entry.assign.locks()) {
        state_->tokens[lock.key()] = std::max(state_->tokens[lock.key()], lock.token());
      }
    }
  }
  Effects effects = Step(*state_, event, now);
  sim_->Check(CheckInvariants(*state_), "agent");
  if (!effects.journal.empty() && CrashesHere()) return;
  for (JournalEntry& entry : effects.journal) {
    if (sim_->options.bug == PlantedBug::kJournalNotWritten && std::holds_alternative<Accepted>(entry)) continue;
    journal_.push_back(std::move(entry));
  }
  if (journal_.size() > kCompactAfter) journal_ = CompactJournal(*state_);
  for (const Action& action : effects.actions) {
    if (CrashesHere()) return;
    Act(action);
  }
}

void AgentHost::Act(const Action& action) {
  std::visit(Overloaded{
                 [&](const StartAttempt& start) { StartExecution(start.assign); },
                 [&](const KillAttempt& kill) { KillExecution(kill.attempt_id); },
                 [&](const Send& send) {
                   if (link_ && link_->number == send.link) network_->SendToController(link_, send.message);
                 },
                 [&](const UploadThenResend& upload) { Upload(upload); },
                 [&](const RemoveAttemptFolder&) {},
                 [&](const DropLink& drop) {
                   sim_->Log("agent {} drops link {}", index_, drop.link);
                   if (!link_ || link_->number != drop.link) return;
                   network_->Cut(link_);
                   link_.reset();
                 },
             },
             action);
}

void AgentHost::StartExecution(const v1::Assign& assign) {
  const uint64_t id = assign.attempt_id();
  Execution& execution = executions_[id];
  execution.assign = assign;
  execution.evidence = DrawEvidence(assign);
  if (!truth_->Begin(assign)) {
    execution.evidence.mutable_outcome()->set_verdict(v1::VERDICT_INFRA);
    execution.evidence.mutable_outcome()->set_kind("device_token");
  }
  const Duration run_limit = Seconds(assign.spec().suite().lanes(0).limits().run_s());
  const bool hangs = sim_->chance.Percent(5);
  const Duration length = sim_->chance.Percent(90) ? sim_->chance.Between(Milliseconds(10), Seconds(20))
                                                   : sim_->chance.Between(Seconds(20), run_limit);
  sim_->Log("agent {} runs attempt {} of job {}{}", index_, id, assign.job_id(), hangs ? ", which hangs" : "");
  Later(sim_->chance.Between(Duration{0}, Seconds(2)), [this, id] {
    if (executions_.contains(id)) Handle(AttemptBegan{id});
  });
  Later(Seconds(3), [this, id] {
    if (!executions_.contains(id)) return;
    v1::Progress progress;
    progress.set_step("kernel");
    Handle(AttemptProgressed{id, progress});
  });
  if (!hangs) Later(length, [this, id] { FinishExecution(id); });
}

void AgentHost::KillExecution(uint64_t attempt_id) {
  const auto found = executions_.find(attempt_id);
  if (found == executions_.end() || std::exchange(found->second.killed, true)) return;
  found->second.evidence.mutable_outcome()->set_verdict(v1::VERDICT_CANCELLED);
  const Duration grace = sim_->chance.Between(Milliseconds(1), Seconds(10));
  if (sim_->options.bug == PlantedBug::kKillWithoutWaiting) {
    const v1::Evidence evidence = found->second.evidence;
    executions_.erase(found);
    sim_->After(grace, [this, attempt_id] { truth_->End(attempt_id); });
    return Later(Duration{0}, [this, attempt_id, evidence] { Handle(AttemptDone{attempt_id, evidence}); });
  }
  Later(grace, [this, attempt_id] { FinishExecution(attempt_id); });
}

void AgentHost::FinishExecution(uint64_t attempt_id) {
  auto execution = executions_.extract(attempt_id);
  if (execution.empty()) return;
  truth_->End(attempt_id);
  const v1::Evidence& evidence = execution.mapped().evidence;
  truth_->Delivers(attempt_id, evidence);
  if (link_ && sim_->chance.Percent(70)) {
    for (const v1::FileEntry& file : evidence.artifacts()) controller_->blobs().insert(file.sha256());
  }
  Handle(AttemptDone{attempt_id, evidence});
}

v1::Evidence AgentHost::DrawEvidence(const v1::Assign& assign) {
  v1::Evidence evidence;
  evidence.set_agent_version(fmt::format("attempt {} on agent {}", assign.attempt_id(), index_));
  v1::CaseResult& result = *evidence.add_cases();
  result.set_name(assign.spec().cases().empty() ? "one" : assign.spec().cases(0));
  if (assign.spec().cases().empty()) {
    evidence.add_cases()->set_name("two");
    evidence.mutable_cases(1)->set_outcome(v1::CASE_OUTCOME_PASS);
  }
  const int64_t draw = sim_->chance.Between(1, 100);
  const v1::Verdict verdict = draw <= 60   ? v1::VERDICT_PASS
                              : draw <= 75 ? v1::VERDICT_FAIL
                              : draw <= 90 ? v1::VERDICT_INFRA
                                           : v1::VERDICT_TIMEOUT;
  evidence.mutable_outcome()->set_verdict(verdict);
  if (verdict == v1::VERDICT_TIMEOUT) evidence.mutable_outcome()->set_kind("run");
  result.set_outcome(verdict == v1::VERDICT_PASS ? v1::CASE_OUTCOME_PASS : v1::CASE_OUTCOME_MISMATCH);
  if (sim_->chance.Percent(40)) {
    v1::FileEntry& file = *evidence.add_artifacts();
    file.set_name("log.txt");
    file.set_sha256(fmt::format("{:064x}", assign.attempt_id()));
  }
  return evidence;
}

void AgentHost::Upload(const UploadThenResend& upload) {
  Later(sim_->chance.Between(Milliseconds(10), Seconds(5)), [this, upload, link = link_] {
    if (!link || link != link_) return;
    ArtifactsUploaded answer{upload.attempt_id, {}};
    for (const std::string& digest : upload.sha256) {
      if (!sim_->quiet && sim_->chance.Percent(3)) {
        answer.unreadable.push_back(digest);
      } else {
        controller_->blobs().insert(digest);
      }
    }
    Handle(answer);
  });
}

}  // namespace pyptox::sim
