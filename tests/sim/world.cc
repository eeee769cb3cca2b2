#include "tests/sim/world.h"

#include <memory>
#include <set>
#include <vector>

#include "matrix/record_seal.h"
#include "tests/sim/agent_host.h"
#include "tests/sim/clients.h"
#include "tests/sim/controller_host.h"
#include "tests/sim/network.h"
#include "tests/sim/truth.h"

namespace pyptox::sim {
namespace {

constexpr Duration kTrouble = Seconds(180);
constexpr Duration kSettle = Seconds(240);  // longest freeze, delay and silence, one after the other
constexpr Duration kPatience = Seconds(4 * 3600);

class World {
 public:
  explicit World(const Options& options);
  Result Run();

 private:
  void StirUpTrouble();
  void Trouble();
  void TroubleAgent();
  void CalmDown();
  bool IsOver() const;
  void CheckEnd();
  void CheckJob(const v1::Job& job, const std::map<uint64_t, std::vector<const v1::Record*>>& records);
  void CheckRecords();
  void CheckPrerequisite(const v1::Record& record);
  Tally Count() const;

  Simulation sim_;
  Network network_;
  Truth truth_;
  ControllerHost controller_;
  std::vector<std::unique_ptr<AgentHost>> agents_;
  std::unique_ptr<Clients> clients_;
};

World::World(const Options& options) : sim_(options), network_(&sim_), truth_(&sim_), controller_(&sim_, &network_) {
  sim_.unruly = sim_.chance.Percent(30);
  std::vector<std::string> all;
  const int64_t agents = sim_.chance.Between(1, 3);
  for (int64_t i = 0; i < agents; ++i) {
    std::vector<std::string> resources;
    for (int64_t r = sim_.chance.Between(1, 2); r > 0; --r) resources.push_back(fmt::format("r{}", all.size() + r));
    agents_.push_back(std::make_unique<AgentHost>(&sim_, &network_, &controller_, &truth_, i, resources));
    all.insert(all.end(), resources.begin(), resources.end());
  }
  clients_ = std::make_unique<Clients>(&sim_, &controller_, all);
  network_.to_controller = [this](const LinkPtr& link, const auto& message) { controller_.Hear(link, message); };
  network_.controller_hears_end = [this](const LinkPtr& link) { controller_.HearEnd(link); };
  network_.to_agent = [this](const LinkPtr& link, const auto& message) { agents_[link->agent]->Hear(link, message); };
  network_.agent_hears_end = [this](const LinkPtr& link) { agents_[link->agent]->HearEnd(link); };
}

Result World::Run() {
  controller_.Start();
  for (const auto& agent : agents_) agent->Start();
  StirUpTrouble();
  sim_.RunUntil(MonoTime{kTrouble.ns}, [] { return false; });
  CalmDown();
  sim_.RunUntil(MonoTime{(kTrouble + kPatience).ns}, [this] { return IsOver(); });
  if (sim_.fault.empty()) CheckEnd();
  return {sim_.fault, Count()};
}

void World::StirUpTrouble() {
  sim_.After(sim_.chance.Between(Milliseconds(100), Seconds(9)), [this] {
    if (sim_.quiet) return;
    Trouble();
    StirUpTrouble();
  });
}

void World::Trouble() {
  const int64_t draw = sim_.chance.Between(1, 100);
  if (draw <= 25) return clients_->Submit();
  if (draw <= 45) return clients_->Cancel();
  if (draw <= 50) return clients_->Retry();
  if (draw <= 58) return clients_->Explain();
  if (draw <= 63) return clients_->Order();
  if (draw <= 69) return controller_.Crash();
  if (draw <= 75) return controller_.Stall(sim_.chance.Between(Seconds(1), Seconds(120)));
  TroubleAgent();
}

void World::TroubleAgent() {
  AgentHost& agent = *agents_[static_cast<size_t>(sim_.chance.Between(0, static_cast<int64_t>(agents_.size()) - 1))];
  const int64_t draw = sim_.chance.Between(1, 100);
  if (draw <= 35) return agent.Isolate(sim_.chance.Between(Milliseconds(100), Seconds(90)));
  if (draw <= 60) return agent.Freeze(sim_.chance.Between(Seconds(1), Seconds(120)));
  agent.Crash();
  if (draw <= 70) agent.LoseJournal();
}

void World::CalmDown() {
  sim_.Log("--- quiet ---");
  sim_.quiet = true;
  sim_.settled_at = sim_.now() + kSettle;
  clients_->LiftOrders();
}

bool World::IsOver() const {
  if (clients_->has_open_calls() || !controller_.is_up() || !controller_.state().active.empty()) return false;
  for (const auto& agent : agents_) {
    if (!agent->is_up() || !agent->state().attempts.empty()) return false;
  }
  return controller_.open_sessions() == agents_.size();
}

void World::CheckEnd() {
  if (!IsOver()) {
    std::string stuck;
    for (const auto& [id, job] : controller_.store().jobs()) {
      if (job.state() != v1::JOB_STATE_DONE) stuck += fmt::format(" job {} ({})", id, v1::JobState_Name(job.state()));
    }
    for (const auto& agent : agents_) {
      if (agent->is_up()) stuck += fmt::format(" {} attempts in a journal", agent->state().attempts.size());
    }
    return sim_.Fail("not over after a long quiet time:{}", stuck);
  }
  CheckRecords();
  std::map<uint64_t, std::vector<const v1::Record*>> records;
  for (const controller::PutRecord& entry : controller_.store().records()) {
    records[entry.record.job_id()].push_back(&entry.record);
  }
  for (const auto& [id, job] : controller_.store().jobs()) CheckJob(job, records);
  for (const auto& [id, promised] : clients_->promised()) {
    const auto job = controller_.store().jobs().find(id);
    if (job == controller_.store().jobs().end() || !IsSameJob(job->second, promised)) {
      sim_.Fail("job {} was promised and is not there", id);
    }
  }
}

void World::CheckJob(const v1::Job& job, const std::map<uint64_t, std::vector<const v1::Record*>>& records) {
  const auto found = records.find(job.id());
  const size_t count = found == records.end() ? 0 : found->second.size();
  const bool never_ran = job.outcome().verdict() == v1::VERDICT_CANCELLED && job.attempts() == 0;
  if (job.state() != v1::JOB_STATE_DONE || count != (never_ran ? 0u : 1u)) {
    return sim_.Fail("job {} is in state {} with {} records", job.id(), v1::JobState_Name(job.state()), count);
  }
  if (never_ran) return;
  const v1::Record& record = *found->second.front();
  if (record.id() != job.record_id() || record.outcome().verdict() != job.outcome().verdict()) {
    return sim_.Fail("job {} and its record {} say different things", job.id(), record.id());
  }
  const v1::Verdict verdict = record.outcome().verdict();
  const bool has_proof = verdict == v1::VERDICT_PASS || verdict == v1::VERDICT_FAIL;
  const auto truth = truth_.evidence().find(record.attempt_id());
  if (!has_proof) return;
  if (truth == truth_.evidence().end() || truth->second.SerializeAsString() != record.evidence().SerializeAsString()) {
    sim_.Fail("record {} is not what attempt {} delivered", record.id(), record.attempt_id());
  }
}

void World::CheckRecords() {
  matrix::ChainVerifier chain;
  for (const controller::PutRecord& entry : controller_.store().records()) {
    sim_.Check(chain.Next(entry.stored).status(), "chain");
    CheckPrerequisite(entry.record);
    if (controller_.store().orphans().contains(entry.record.attempt_id())) {
      const auto& attempt = controller_.store().attempts().at(entry.record.attempt_id());
      // A lost attempt may end its job, and deliver after all.
      if (attempt.outcome().verdict() != v1::VERDICT_LOST) {
        sim_.Fail("attempt {} is an orphan and stands in record {}", attempt.id(), entry.record.id());
      }
    }
  }
  for (const auto& [id, orphan] : controller_.store().orphans()) {
    const auto attempt = controller_.store().attempts().find(id);
    if (attempt == controller_.store().attempts().end()) sim_.Fail("orphan of attempt {}, which never was", id);
  }
}

void World::CheckPrerequisite(const v1::Record& record) {
  if (record.attempt_id() == 0) return;
  const v1::JobSpec& spec = controller_.store().specs().at(record.job_id());
  for (const v1::Lane& lane : spec.suite().lanes()) {
    if (lane.name() != record.lane() || lane.requires_pass().empty()) continue;
    for (const controller::PutRecord& entry : controller_.store().records()) {
      const v1::Record& other = entry.record;
      if (other.id() < record.id() && other.suite_sha256() == record.suite_sha256() &&
          other.source().tree_sha256() == record.source().tree_sha256() && other.lane() == lane.requires_pass(0) &&
          other.outcome().verdict() == v1::VERDICT_PASS) {
        return;
      }
    }
    sim_.Fail("record {} ran before {} passed", record.id(), lane.requires_pass(0));
  }
}

Tally World::Count() const {
  Tally tally;
  tally.jobs = static_cast<int>(controller_.store().jobs().size());
  tally.attempts = static_cast<int>(controller_.store().attempts().size());
  for (const auto& [id, attempt] : controller_.store().attempts()) {
    tally.lost += attempt.outcome().verdict() == v1::VERDICT_LOST;
  }
  tally.orphans = static_cast<int>(controller_.store().orphans().size());
  tally.records = static_cast<int>(controller_.store().records().size());
  tally.refused_by_device = truth_.refused();
  tally.controller_lives = controller_.life();
  for (const auto& agent : agents_) tally.agent_lives += agent->life();
  return tally;
}

}  // namespace

void Tally::Add(const Tally& other) {
  jobs += other.jobs;
  attempts += other.attempts;
  lost += other.lost;
  orphans += other.orphans;
  records += other.records;
  refused_by_device += other.refused_by_device;
  controller_lives += other.controller_lives;
  agent_lives += other.agent_lives;
}

std::string Tally::Text() const {
  return fmt::format(
      "{} jobs, {} attempts, {} lost, {} orphans, {} records, {} refused by a device, {} starts of "
      "controllers, {} of agents",
      jobs, attempts, lost, orphans, records, refused_by_device, controller_lives, agent_lives);
}

Result RunWorld(const Options& options) { return World(options).Run(); }

}  // namespace pyptox::sim
