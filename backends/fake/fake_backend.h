// A backend that answers as it is told: for tests of the agent, and the example of how small a backend can be.
#ifndef PYPTOX_BACKENDS_FAKE_FAKE_BACKEND_H_
#define PYPTOX_BACKENDS_FAKE_FAKE_BACKEND_H_

#include <string>

#include "backends/api/backend.h"

namespace pyptox::backends {

// Evidence is `simulated`, whatever the script says: nothing that a fake did can look native. The script is the fact
// `fake`: `blocked` refuses with BLOCKED_DEVICE(fake); anything else, or no such fact, runs the native runner.
class FakeBackend : public Backend {
 public:
  std::string_view name() const override { return "fake"; }
  Plan MakePlan(const PlanRequest& request) const override {
    Plan plan;
    plan.evidence_class = v1::EVIDENCE_CLASS_SIMULATED;
    if (FactOr(*request.facts, "fake") == "blocked") {
      plan.refused = MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "fake", "the fake device is scripted to be blocked");
      return plan;
    }
    plan.runner_argv = {request.runner_dir + "/pyptox-runner"};
    plan.not_covered = {"simulated: no device took part"};
    return plan;
  }
};

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_FAKE_FAKE_BACKEND_H_
