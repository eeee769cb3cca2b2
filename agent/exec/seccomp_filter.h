// The system-call filter of a traced process. It hides nothing from the program but three ways around the tracer.
#ifndef PYPTOX_AGENT_EXEC_SECCOMP_FILTER_H_
#define PYPTOX_AGENT_EXEC_SECCOMP_FILTER_H_

#include <linux/audit.h>
#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace pyptox::agent {

// Architecture of this program's own system calls, as seccomp and ptrace name it (linux/audit.h).
#if defined(__x86_64__)
inline constexpr uint32_t kNativeArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr uint32_t kNativeArch = AUDIT_ARCH_AARCH64;
#endif

// Stops (SECCOMP_RET_TRACE) at calls that open a file or give one another name, by a 32-bit program too. Refuses
// CLONE_UNTRACED with EPERM, and clone3 (its flags can't be seen by a filter; libc falls back to clone), io_uring (it
// opens files without a system call) and the x32 calls with ENOSYS. All else is allowed.
std::vector<sock_filter> TraceFilter();

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_SECCOMP_FILTER_H_
