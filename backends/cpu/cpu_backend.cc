#include "backends/cpu/cpu_backend.h"

#include <fmt/format.h>

namespace pyptox::backends {

Plan CpuBackend::MakePlan(const PlanRequest& request) const {
  const FactMap& facts = *request.facts;
  const TargetInfo& target = *request.target;
  Plan plan;
  // An unknown state of virtualisation must not become the stronger claim.
  const bool bare = FactOr(facts, "virtualization") == "none";
  plan.evidence_class = bare ? v1::EVIDENCE_CLASS_NATIVE : v1::EVIDENCE_CLASS_VIRTUALIZED;

  const std::string machine = FactOr(facts, "architecture");
  if (machine != target.machine) {
    plan.refused = MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "machine",
                               fmt::format("{} needs a {} machine, this one is {}", target.name, target.machine,
                                           machine.empty() ? "unknown" : machine));
    return plan;
  }
  const std::string flags = fmt::format(" {} ", FactOr(facts, "cpu_flags"));
  for (const std::string_view flag : target.cpu_flags) {
    if (flags.find(fmt::format(" {} ", flag)) == std::string::npos) {
      plan.refused =
          MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "cpu_feature",
                      fmt::format("{} needs the CPU feature {}, which this processor lacks", target.name, flag));
      return plan;
    }
  }
  if (request.kernel != nullptr && !request.kernel->qemu_cpu().empty()) {
    plan.refused =
        MakeOutcome(v1::VERDICT_NO_VERDICT, "suite",
                    fmt::format("qemu_cpu is '{}', but the resource is a real processor", request.kernel->qemu_cpu()));
    return plan;
  }
  plan.runner_argv = {request.runner_dir + "/pyptox-runner"};
  return plan;
}

}  // namespace pyptox::backends
