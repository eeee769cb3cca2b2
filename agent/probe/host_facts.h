// What this host is, as observed: every value with the file or call it came from. Unreadable is `unknown`, never a
// guess.
#ifndef PYPTOX_AGENT_PROBE_HOST_FACTS_H_
#define PYPTOX_AGENT_PROBE_HOST_FACTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/time_types.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Value of a fact that could not be observed.
inline constexpr std::string_view kUnknownFact = "unknown";

// Where to look. Tests point `root` at a folder with files of another machine.
struct HostView {
  // Prefix of /proc and /sys paths; empty for the real ones.
  std::string root;
  // Signature of CPUID leaf 0x40000000, empty without a hypervisor bit or off x86 (ReadHypervisorSignature).
  std::string hypervisor_signature;
};

// CPUID's hypervisor vendor of this machine, e.g. `KVMKVMKVM`.
std::string ReadHypervisorSignature();

// Keys: architecture, cpu_model, cpu_flags (blank-separated, as /proc/cpuinfo writes them), cpus (online), microcode,
// virtualization (none, kvm, hyperv, vmware, xen, qemu, wsl, other or unknown), kernel, libc, sve_vector_bytes (0
// without SVE). `observer` stands in every fact as `agent:NAME`.
std::vector<v1::Fact> ProbeHost(const HostView& view, std::string_view agent, WallTime now);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_PROBE_HOST_FACTS_H_
