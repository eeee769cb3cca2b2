// What survives a crash of the controller: the sum of all committed writes, kept by the same keys as the database.
#ifndef PYPTOX_TESTS_SIM_DURABLE_STORE_H_
#define PYPTOX_TESTS_SIM_DURABLE_STORE_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/effect.h"
#include "controller/core/recovered.h"
#include "tests/sim/simulation.h"

namespace pyptox::sim {

class DurableStore {
 public:
  explicit DurableStore(Simulation* sim) : sim_(sim) {}

  // One transaction. Fails the run when a write breaks a rule of the data.
  void Commit(const std::vector<controller::Write>& writes);
  controller::Recovered Recover() const;

  const std::map<uint64_t, v1::Job>& jobs() const { return jobs_; }
  const std::map<uint64_t, v1::JobSpec>& specs() const { return specs_; }
  const std::map<uint64_t, v1::Attempt>& attempts() const { return attempts_; }
  const std::vector<v1::ResourceOrder>& orders() const { return orders_; }
  const std::vector<controller::PutRecord>& records() const { return records_; }
  const std::map<uint64_t, controller::PutOrphan>& orphans() const { return orphans_; }

 private:
  void Apply(const controller::PutJob& write);
  void Apply(const controller::PutJobSpec& write);
  void Apply(const controller::PutAttempt& write);
  void Apply(const controller::PutLease& write);
  void Apply(const controller::DeleteLeases& write);
  void Apply(const controller::PutToken& write);
  void Apply(const controller::PutAgent& write);
  void Apply(const controller::PutResource& write);
  void Apply(const controller::PutResourceOrder& write);
  void Apply(const controller::PutRecord& write);
  void Apply(const controller::PutOrphan& write);
  void Apply(const controller::PutIdempotency& write);
  void Apply(const controller::PutCounters& write);

  Simulation* sim_;
  controller::Counters counters_;
  std::map<uint64_t, v1::Job> jobs_;
  std::map<uint64_t, v1::JobSpec> specs_;
  std::map<uint64_t, v1::Attempt> attempts_;
  std::map<std::pair<uint64_t, std::string>, v1::Lease> leases_;
  std::map<std::string, uint64_t> tokens_;
  std::map<std::string, uint64_t> granted_;  // highest token of any lease, by key
  std::map<std::string, v1::Agent> agents_;
  std::map<std::string, v1::Resource> resources_;
  std::vector<v1::ResourceOrder> orders_;
  std::map<std::string, uint64_t> idempotency_;
  std::vector<controller::PutRecord> records_;
  std::map<uint64_t, controller::PutOrphan> orphans_;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_DURABLE_STORE_H_
