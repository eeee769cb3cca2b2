#include "backends/qemu/qemu_backend.h"

#include <fmt/format.h>

namespace pyptox::backends {
namespace {

// Where the arm64 C library of the host's own package system puts its loader; QEMU finds that one by itself.
constexpr std::string_view kSystemLoader = "/lib/ld-linux-aarch64.so.1";

constexpr std::string_view kEmulator = "qemu-aarch64";

}  // namespace

Plan QemuBackend::MakePlan(const PlanRequest& request) const {
  const FactMap& facts = *request.facts;
  Plan plan;
  plan.evidence_class = v1::EVIDENCE_CLASS_EMULATED;
  if (request.target->machine != "aarch64") {
    plan.refused =
        MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "machine",
                    fmt::format("{} is not for aarch64, which is all that this emulator runs", request.target->name));
    return plan;
  }
  const std::string version = FactOr(facts, "qemu_aarch64");
  if (version.empty()) {
    plan.refused = MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "emulator", "qemu-aarch64 is not on PATH");
    return plan;
  }
  const std::string loader = FactOr(facts, "aarch64_loader");
  if (loader.empty()) {
    plan.refused = MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "emulator", "no aarch64 C library is installed");
    return plan;
  }
  if (request.run != nullptr && request.run->argv(0) != kEmulator) {
    plan.refused =
        MakeOutcome(v1::VERDICT_NO_VERDICT, "suite",
                    fmt::format("run.argv[0]: '{}' would run on the host itself, not as aarch64; here it must be {}",
                                request.run->argv(0), kEmulator));
    return plan;
  }
  plan.runner_argv = {std::string(kEmulator)};
  if (loader != kSystemLoader) {
    plan.runner_argv.insert(plan.runner_argv.end(), {loader, "--library-path", loader.substr(0, loader.rfind('/'))});
  }
  plan.runner_argv.push_back(request.runner_dir + "/aarch64/pyptox-runner");
  const std::string cpu = request.kernel == nullptr ? "" : request.kernel->qemu_cpu();
  if (!cpu.empty()) plan.env.emplace_back("QEMU_CPU", cpu);
  plan.not_covered = {fmt::format("emulated by {}: nothing here is a statement about speed, caches or timing", version),
                      "the CPU model has instructions that a Kunpeng 920B lacks (SVE2): passing here does not prove "
                      "that the code is legal there"};
  return plan;
}

}  // namespace pyptox::backends
