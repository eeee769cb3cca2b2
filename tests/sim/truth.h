// What really happened, whatever anybody believes: who ran when, and what came out.
#ifndef PYPTOX_TESTS_SIM_TRUTH_H_
#define PYPTOX_TESTS_SIM_TRUTH_H_

#include <cstdint>
#include <map>
#include <string>

#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/record.pb.h"
#include "tests/sim/simulation.h"

namespace pyptox::sim {

class Truth {
 public:
  explicit Truth(Simulation* sim) : sim_(sim) {}

  // An attempt's processes start to use what its locks guard. False when a device refuses the token as stale.
  bool Begin(const v1::Assign& assign) {
    if (++runs_[assign.attempt_id()] > 1) sim_->Fail("attempt {} was executed twice", assign.attempt_id());
    for (const v1::HeldLock& lock : assign.locks()) {
      Device& device = devices_[lock.key()];
      if (lock.token() < device.highest_token) {
        ++refused_;
        return false;
      }
      if (device.user != 0) {
        sim_->Fail("{} is used by attempts {} and {} at once", lock.key(), device.user, assign.attempt_id());
      }
    }
    for (const v1::HeldLock& lock : assign.locks()) devices_[lock.key()] = {lock.token(), assign.attempt_id()};
    return true;
  }
  // None of its processes is left.
  void End(uint64_t attempt_id) {
    for (auto& [key, device] : devices_) {
      if (device.user == attempt_id) device.user = 0;
    }
  }
  // What the attempt was going to deliver.
  void Delivers(uint64_t attempt_id, const v1::Evidence& evidence) { evidence_[attempt_id] = evidence; }

  const std::map<uint64_t, v1::Evidence>& evidence() const { return evidence_; }
  const std::map<uint64_t, int>& runs() const { return runs_; }
  int refused() const { return refused_; }

 private:
  struct Device {
    uint64_t highest_token = 0;
    uint64_t user = 0;
  };
  Simulation* sim_;
  std::map<std::string, Device> devices_;
  std::map<uint64_t, int> runs_;
  std::map<uint64_t, v1::Evidence> evidence_;
  int refused_ = 0;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_TRUTH_H_
