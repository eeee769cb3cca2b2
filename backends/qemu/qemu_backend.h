// QEMU's user-mode emulation of AArch64: functional evidence only.
#ifndef PYPTOX_BACKENDS_QEMU_QEMU_BACKEND_H_
#define PYPTOX_BACKENDS_QEMU_QEMU_BACKEND_H_

#include "backends/api/backend.h"

namespace pyptox::backends {

// A lane that runs a program must start it with qemu-aarch64: a native program passing here would say nothing.
//
// Needs the facts qemu_aarch64 (version) and aarch64_loader (path of ld-linux-aarch64.so.1).
//
// The runner is started without `-L`: with it, and a dynamically linked program, a forked child of qemu-aarch64 7.2
// spins for ever (seen on Debian 12). Where only the cross toolchain's libraries are there, their loader is named
// instead.
class QemuBackend : public Backend {
 public:
  std::string_view name() const override { return "qemu"; }
  Plan MakePlan(const PlanRequest& request) const override;
};

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_QEMU_QEMU_BACKEND_H_
