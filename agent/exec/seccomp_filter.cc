#include "agent/exec/seccomp_filter.h"

#include <asm/unistd.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace pyptox::agent {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kTraced[] = {__NR_open, __NR_creat,  __NR_openat, __NR_openat2,  __NR_open_by_handle_at,
                                __NR_link, __NR_linkat, __NR_rename, __NR_renameat, __NR_renameat2};
// i386: open, creat, openat, openat2, open_by_handle_at, link, linkat, rename, renameat, renameat2.
constexpr uint32_t kTraced32[] = {5, 8, 295, 437, 342, 9, 303, 38, 302, 353};
#elif defined(__aarch64__)
constexpr uint32_t kTraced[] = {__NR_openat, __NR_openat2,  __NR_open_by_handle_at,
                                __NR_linkat, __NR_renameat, __NR_renameat2};
// arm: the same in the order of i386.
constexpr uint32_t kTraced32[] = {5, 8, 322, 437, 371, 9, 330, 38, 329, 382};
#else
#error "no system call table for this architecture"
#endif

// Numbers of the 32-bit programs that an x86-64 or aarch64 kernel runs; i386 and arm agree on these.
constexpr uint32_t kClone32 = 120;
constexpr uint32_t kClone3 = 435;
constexpr uint32_t kIoUringSetup = 425;
constexpr uint32_t kX32Bit = 0x40000000;

constexpr uint32_t kTrace = SECCOMP_RET_TRACE;
constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t Refuse(int error) { return SECCOMP_RET_ERRNO | (static_cast<uint32_t>(error) & SECCOMP_RET_DATA); }

class Program {
 public:
  void Load(size_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
  void Return(uint32_t value) { Add(BPF_RET | BPF_K, value); }
  // Returns `value` when the loaded word equals `word`.
  void ReturnIfEqual(uint32_t word, uint32_t value) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, word, 0, 1);
    Return(value);
  }
  void ReturnIfAnySet(uint32_t bits, uint32_t value) {
    Add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    Return(value);
  }
  // Refuses clone with CLONE_UNTRACED, allows it otherwise; the call's number is loaded.
  void CheckClone(uint32_t clone) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, clone, 0, 4);
    Load(offsetof(seccomp_data, args));  // low word of the flags: both architectures are little-endian
    ReturnIfAnySet(CLONE_UNTRACED, Refuse(EPERM));
    Return(kAllow);
  }
  void Add(uint32_t code, uint32_t k, uint8_t if_true = 0, uint8_t if_false = 0) {
    code_.push_back(sock_filter{static_cast<uint16_t>(code), if_true, if_false, k});
  }
  size_t size() const { return code_.size(); }
  void Append(const Program& other) { code_.insert(code_.end(), other.code_.begin(), other.code_.end()); }
  std::vector<sock_filter> Take() { return std::move(code_); }

 private:
  std::vector<sock_filter> code_;
};

Program NativeCalls() {
  Program program;
  program.Load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  program.ReturnIfAnySet(kX32Bit, Refuse(ENOSYS));
#endif
  for (const uint32_t call : kTraced) program.ReturnIfEqual(call, kTrace);
  program.ReturnIfEqual(kClone3, Refuse(ENOSYS));
  program.ReturnIfEqual(kIoUringSetup, Refuse(ENOSYS));
  program.CheckClone(__NR_clone);
  program.Return(kAllow);
  return program;
}

Program CompatCalls() {
  Program program;
  program.Load(offsetof(seccomp_data, nr));
  for (const uint32_t call : kTraced32) program.ReturnIfEqual(call, kTrace);
  program.ReturnIfEqual(kClone3, Refuse(ENOSYS));
  program.ReturnIfEqual(kIoUringSetup, Refuse(ENOSYS));
  program.CheckClone(kClone32);
  program.Return(kAllow);
  return program;
}

}  // namespace

std::vector<sock_filter> TraceFilter() {
  const Program native = NativeCalls();
  Program program;
  program.Load(offsetof(seccomp_data, arch));
  program.Add(BPF_JMP | BPF_JEQ | BPF_K, kNativeArch, 0, static_cast<uint8_t>(native.size()));
  program.Append(native);
  program.Append(CompatCalls());
  return program.Take();
}

}  // namespace pyptox::agent
