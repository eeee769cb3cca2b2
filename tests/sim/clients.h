// People and workers who submit, cancel, retry and ask, and who check what they were promised.
#ifndef PYPTOX_TESTS_SIM_CLIENTS_H_
#define PYPTOX_TESTS_SIM_CLIENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pyptox/v1/job.pb.h"
#include "tests/sim/controller_host.h"
#include "tests/sim/simulation.h"

namespace pyptox::sim {

// One job at two moments, not two jobs that were given one id.
bool IsSameJob(const v1::Job& a, const v1::Job& b);

class Clients {
 public:
  Clients(Simulation* sim, ControllerHost* controller, std::vector<std::string> resources)
      : sim_(sim), controller_(controller), resources_(std::move(resources)) {}

  // One submission; asked again with the same key until it is answered.
  void Submit();
  // Each about a random job that the client was told of.
  void Cancel();
  void Retry();
  void Explain();
  // A person's word about a random resource, any state that can be set.
  void Order();
  // Every resource is AVAILABLE again, as far as people are concerned.
  void LiftOrders();

  bool has_open_calls() const { return answered_ < submitted_; }
  // Jobs as the answers promised them, by id.
  const std::map<uint64_t, v1::Job>& promised() const { return promised_; }

 private:
  v1::SubmitRequest DrawRequest();
  void Ask(const v1::SubmitRequest& request);
  // The jobs of an answer are promised from now on.
  void Promise(const v1::Job& job);
  uint64_t DrawJob();
  void Order(const std::string& resource, v1::ResourceState state);

  Simulation* sim_;
  ControllerHost* controller_;
  std::vector<std::string> resources_;
  int submitted_ = 0;
  int answered_ = 0;
  std::map<std::string, v1::SubmitResponse> answers_;  // by key
  std::map<uint64_t, v1::Job> promised_;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_CLIENTS_H_
