// The host's own processor.
#ifndef PYPTOX_BACKENDS_CPU_CPU_BACKEND_H_
#define PYPTOX_BACKENDS_CPU_CPU_BACKEND_H_

#include "backends/api/backend.h"

namespace pyptox::backends {

// Needs the facts architecture, cpu_flags and virtualization. Evidence is native only when the host is known not to be
// a guest.
class CpuBackend : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  Plan MakePlan(const PlanRequest& request) const override;
};

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_CPU_CPU_BACKEND_H_
