#include "tests/sim/durable_store.h"

#include <variant>

#include "matrix/record_seal.h"

namespace pyptox::sim {

using namespace controller;  // its writes, all of them

void DurableStore::Commit(const std::vector<Write>& writes) {
  for (const Write& write : writes) {
    std::visit([this](const auto& kind) { Apply(kind); }, write);
  }
}

void DurableStore::Apply(const PutJob& write) {
  v1::Job& job = jobs_[write.job.id()];
  if (job.state() == v1::JOB_STATE_DONE) sim_->Fail("job {} changed after it was DONE", job.id());
  if (write.job.attempts() < job.attempts()) sim_->Fail("job {} has lost attempts", job.id());
  job = write.job;
}

void DurableStore::Apply(const PutJobSpec& write) {
  if (!specs_.emplace(write.job_id, *write.spec).second) sim_->Fail("the spec of job {} came twice", write.job_id);
}

void DurableStore::Apply(const PutAttempt& write) {
  v1::Attempt& attempt = attempts_[write.attempt.id()];
  if (write.attempt.state() < attempt.state() || attempt.state() == v1::ATTEMPT_STATE_ENDED) {
    sim_->Fail("attempt {} went back, or on after its end", attempt.id());
  }
  attempt = write.attempt;
}

void DurableStore::Apply(const PutLease& write) {
  uint64_t& highest = granted_[write.lease.key()];
  if (write.lease.token() <= highest) {
    sim_->Fail("{} was granted under token {} after {}", write.lease.key(), write.lease.token(), highest);
  }
  highest = write.lease.token();
  for (const auto& [at, lease] : leases_) {
    if (lease.key() == write.lease.key()) sim_->Fail("{} is leased to two attempts", lease.key());
  }
  for (const auto& [name, resource] : resources_) {
    if (resource.has_order() && write.lease.key() == "resource/" + name) {
      sim_->Fail("{} was granted while it is {}", write.lease.key(), v1::ResourceState_Name(resource.order().state()));
    }
  }
  leases_[{write.lease.attempt_id(), write.lease.key()}] = write.lease;
}

void DurableStore::Apply(const DeleteLeases& write) {
  if (sim_->options.bug == PlantedBug::kLeasesNotDeleted) return;
  std::erase_if(leases_, [&](const auto& entry) { return entry.first.first == write.attempt_id; });
}

void DurableStore::Apply(const PutToken& write) {
  if (sim_->options.bug == PlantedBug::kTokensNotStored) return;
  uint64_t& token = tokens_[write.token.key()];
  if (write.token.token() <= token) sim_->Fail("token of {} did not grow from {}", write.token.key(), token);
  token = write.token.token();
}

void DurableStore::Apply(const PutAgent& write) { agents_[write.agent.name()] = write.agent; }

void DurableStore::Apply(const PutResource& write) { resources_[write.resource.name()] = write.resource; }

void DurableStore::Apply(const PutResourceOrder& write) {
  if (write.order.id() != orders_.size() + 1) sim_->Fail("order {} is not the next one", write.order.id());
  orders_.push_back(write.order);
}

void DurableStore::Apply(const PutRecord& write) {
  if (write.record.id() != records_.size() + 1) sim_->Fail("record {} is not the next one", write.record.id());
  records_.push_back(write);
}

void DurableStore::Apply(const PutOrphan& write) { orphans_[write.finished.attempt_id()] = write; }

void DurableStore::Apply(const PutIdempotency& write) {
  const auto [at, is_new] = idempotency_.emplace(write.key, write.submission_id);
  if (!is_new) sim_->Fail("key {} was given to two submissions", write.key);
}

void DurableStore::Apply(const PutCounters& write) {
  const Counters& next = write.counters;
  if (next.jobs < counters_.jobs || next.attempts < counters_.attempts || next.submissions < counters_.submissions ||
      next.orders < counters_.orders) {
    sim_->Fail("a counter went back");
  }
  counters_ = next;
}

Recovered DurableStore::Recover() const {
  Recovered recovered;
  recovered.counters = counters_;
  for (const auto& [id, job] : jobs_) {
    recovered.jobs.push_back(job);
    if (job.state() != v1::JOB_STATE_DONE) recovered.specs[id] = specs_.at(id);
  }
  for (const auto& [id, attempt] : attempts_) recovered.attempts.push_back(attempt);
  for (const auto& [at, lease] : leases_) recovered.leases.push_back(lease);
  for (const auto& [key, token] : tokens_) {
    v1::HeldLock& lock = recovered.tokens.emplace_back();
    lock.set_key(key);
    lock.set_token(token);
  }
  for (const auto& [name, agent] : agents_) recovered.agents.push_back(agent);
  for (const auto& [name, resource] : resources_) recovered.resources.push_back(resource);
  recovered.idempotency = idempotency_;
  for (const PutRecord& entry : records_) {
    const v1::Record& record = entry.record;
    if (record.partial()) continue;
    // Later records of the same question replace earlier ones.
    recovered.results.push_back({record.suite(), record.suite_sha256(), record.lane(), record.source().tree_sha256(),
                                 record.id(), record.outcome().verdict()});
  }
  recovered.record_count = records_.size();
  if (!records_.empty()) recovered.record_head_sha256 = records_.back().stored.sha256();
  return recovered;
}

}  // namespace pyptox::sim
