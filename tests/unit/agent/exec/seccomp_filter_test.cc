#include "agent/exec/seccomp_filter.h"

#include <asm/unistd.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstring>

namespace pyptox::agent {
namespace {

// Runs the program as the kernel would, for the instructions that it uses.
uint32_t Evaluate(const seccomp_data& data) {
  const std::vector<sock_filter> program = TraceFilter();
  uint32_t word = 0;
  for (size_t at = 0; at < program.size(); ++at) {
    const sock_filter& op = program[at];
    switch (op.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&word, reinterpret_cast<const char*>(&data) + op.k, sizeof word);
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += word == op.k ? op.jt : op.jf;
        break;
      case BPF_JMP | BPF_JSET | BPF_K:
        at += (word & op.k) != 0 ? op.jt : op.jf;
        break;
      case BPF_RET | BPF_K:
        return op.k;
      default:
        ADD_FAILURE() << "instruction " << op.code;
        return 0;
    }
  }
  ADD_FAILURE() << "ran past its end";
  return 0;
}

#if defined(__x86_64__)
constexpr uint32_t kNative = AUDIT_ARCH_X86_64;
constexpr uint32_t kCompat = AUDIT_ARCH_I386;
#else
constexpr uint32_t kNative = AUDIT_ARCH_AARCH64;
constexpr uint32_t kCompat = AUDIT_ARCH_ARM;
#endif

uint32_t Call(uint32_t arch, int number, uint64_t first = 0) {
  seccomp_data data{};
  data.arch = arch;
  data.nr = number;
  data.args[0] = first;
  return Evaluate(data);
}

TEST(SeccompFilterTest, OpensAreTracedAndTheRestIsAllowed) {
#if defined(__x86_64__)
  EXPECT_EQ(Call(kNative, __NR_open), SECCOMP_RET_TRACE);
  EXPECT_EQ(Call(kNative, __NR_creat), SECCOMP_RET_TRACE);
  EXPECT_EQ(Call(kNative, 0x40000000 | __NR_openat), SECCOMP_RET_ERRNO | ENOSYS);
#endif
  EXPECT_EQ(Call(kNative, __NR_openat), SECCOMP_RET_TRACE);
  EXPECT_EQ(Call(kNative, __NR_openat2), SECCOMP_RET_TRACE);
  EXPECT_EQ(Call(kNative, __NR_open_by_handle_at), SECCOMP_RET_TRACE);
  for (const int call : {__NR_read, __NR_write, __NR_execve, __NR_mmap, __NR_exit_group, __NR_setsid, __NR_ptrace}) {
    EXPECT_EQ(Call(kNative, call), SECCOMP_RET_ALLOW) << call;
  }
}

TEST(SeccompFilterTest, WaysAroundTheTracerAreRefused) {
  for (const uint32_t arch : {kNative, kCompat}) {
    const int clone = arch == kNative ? __NR_clone : 120;
    EXPECT_EQ(Call(arch, clone, 17), SECCOMP_RET_ALLOW);
    EXPECT_EQ(Call(arch, clone, 0x00800000 | 17), SECCOMP_RET_ERRNO | EPERM);
    EXPECT_EQ(Call(arch, clone, 0xffffffff00000000ull), SECCOMP_RET_ALLOW);
    EXPECT_EQ(Call(arch, 435, 0), SECCOMP_RET_ERRNO | ENOSYS);
    EXPECT_EQ(Call(arch, 425, 0), SECCOMP_RET_ERRNO | ENOSYS);
    EXPECT_EQ(Call(arch, 20, 0), SECCOMP_RET_ALLOW);
  }
}

TEST(SeccompFilterTest, MovesAreTraced) {
  for (const int call : {__NR_linkat, __NR_renameat, __NR_renameat2}) {
    EXPECT_EQ(Call(kNative, call), SECCOMP_RET_TRACE) << call;
  }
#if defined(__x86_64__)
  EXPECT_EQ(Call(kNative, __NR_link), SECCOMP_RET_TRACE);
  EXPECT_EQ(Call(kNative, __NR_rename), SECCOMP_RET_TRACE);
#endif
}

TEST(SeccompFilterTest, ThirtyTwoBitProgramsRunAndTheirOpensAreTraced) {
  const int openat = kCompat == AUDIT_ARCH_I386 ? 295 : 322;
  for (const int call : {5, 8, 9, 38, 437, openat}) EXPECT_EQ(Call(kCompat, call), SECCOMP_RET_TRACE) << call;
  for (const int call : {1, 3, 4, 11}) EXPECT_EQ(Call(kCompat, call), SECCOMP_RET_ALLOW) << call;
}

}  // namespace
}  // namespace pyptox::agent
