/* Kernels that each break one rule. All take f32 in, f32 out of one axis, and compute out[i] = in[i] + 1 besides. */
#define _GNU_SOURCE
#include <fenv.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "backends/runner/pyptox_kernel.h"

static unsigned char* InputBytes(const pyptox_launch* launch) { return launch->buffers[0].data; }
static unsigned char* OutputBytes(const pyptox_launch* launch) { return launch->buffers[1].data; }
static uint64_t OutputLength(const pyptox_launch* launch) { return launch->buffers[1].bytes; }

static int32_t AddOne(const pyptox_launch* launch) {
  const float* from = launch->buffers[0].data;
  float* to = launch->buffers[1].data;
  for (uint64_t i = 0; i < launch->buffers[0].bytes / 4; ++i) to[i] = from[i] + 1.0f;
  return PYPTOX_DONE;
}

/* A compiler may not see that a stray address is stray. */
static void Flip(unsigned char* at) {
  __asm__ volatile("" : "+r"(at));
  *at ^= 0x10;
}

int32_t write_byte_before(const pyptox_launch* launch) {
  Flip(OutputBytes(launch) - 1);
  return AddOne(launch);
}

int32_t write_byte_after(const pyptox_launch* launch) {
  Flip(OutputBytes(launch) + OutputLength(launch));
  return AddOne(launch);
}

int32_t write_page_before(const pyptox_launch* launch) {
  Flip(OutputBytes(launch) - 4096);
  return AddOne(launch);
}

int32_t write_page_after(const pyptox_launch* launch) {
  Flip(OutputBytes(launch) + OutputLength(launch) + 4095);
  return AddOne(launch);
}

int32_t write_before_input(const pyptox_launch* launch) {
  Flip(InputBytes(launch) - 1);
  return AddOne(launch);
}

/* In the second launch only. */
int32_t write_byte_after_later(const pyptox_launch* launch) {
  static int launches = 0;
  if (++launches == 2) Flip(OutputBytes(launch) + OutputLength(launch));
  return AddOne(launch);
}

int32_t write_after_then_crash(const pyptox_launch* launch) {
  Flip(OutputBytes(launch) + OutputLength(launch));
  raise(SIGSEGV);
  return PYPTOX_DONE;
}

int32_t change_input(const pyptox_launch* launch) {
  AddOne(launch);
  Flip(InputBytes(launch));
  return PYPTOX_DONE;
}

int32_t count_launches(const pyptox_launch* launch) {
  static unsigned char launches = 0;
  AddOne(launch);
  OutputBytes(launch)[0] ^= launches++;
  return PYPTOX_DONE;
}

int32_t wrong_bit(const pyptox_launch* launch) {
  AddOne(launch);
  Flip(OutputBytes(launch));
  return PYPTOX_DONE;
}

int32_t write_nothing(const pyptox_launch* launch) {
  (void)launch;
  return PYPTOX_DONE;
}

int32_t crash_by_address(const pyptox_launch* launch) {
  volatile int* nowhere = NULL;
  __asm__ volatile("" : "+r"(nowhere));
  *nowhere = 1;
  return AddOne(launch);
}

int32_t crash_by_arithmetic(const pyptox_launch* launch) {
  raise(SIGFPE);
  return AddOne(launch);
}

int32_t crash_by_abort(const pyptox_launch* launch) {
  (void)launch;
  abort();
}

int32_t crash_later(const pyptox_launch* launch) {
  static int launches = 0;
  if (++launches == 2) abort();
  return AddOne(launch);
}

int32_t exit_zero(const pyptox_launch* launch) {
  AddOne(launch);
  exit(0);
}

int32_t hang(const pyptox_launch* launch) {
  AddOne(launch);
  for (;;) pause();
}

int32_t wrong_status(const pyptox_launch* launch) {
  AddOne(launch);
  return 7;
}

int32_t wrong_status_later(const pyptox_launch* launch) {
  static int launches = 0;
  AddOne(launch);
  return ++launches == 3 ? 7 : PYPTOX_DONE;
}

int32_t refuse_after_writing(const pyptox_launch* launch) {
  Flip(OutputBytes(launch) + OutputLength(launch) - 1);
  return PYPTOX_REFUSED_INDEX;
}

int32_t round_upward(const pyptox_launch* launch) {
  AddOne(launch);
  fesetround(FE_UPWARD);
  return PYPTOX_DONE;
}

int32_t unmask_exceptions(const pyptox_launch* launch) {
  AddOne(launch);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() & ~0x80u); /* invalid operation traps */
#else
  __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)1 << 25)); /* default NaN: QEMU has no trapped exceptions */
#endif
  return PYPTOX_DONE;
}

int32_t flush_to_zero(const pyptox_launch* launch) {
  AddOne(launch);
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8000u);
#else
  __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)1 << 24));
#endif
  return PYPTOX_DONE;
}

/* Sticky flags are no control state: this one keeps the rules. */
int32_t raise_flags(const pyptox_launch* launch) {
  AddOne(launch);
  feraiseexcept(FE_INEXACT | FE_OVERFLOW);
  return PYPTOX_DONE;
}

/* Cuts the runner's own channel and stays. */
int32_t close_files_and_hang(const pyptox_launch* launch) {
  for (int fd = 3; fd < 64; ++fd) close(fd);
  return hang(launch);
}

/* Writes into whatever sockets it inherited, the runner's own channel among them. */
int32_t write_into_sockets(const pyptox_launch* launch) {
  for (int fd = 3; fd < 64; ++fd) (void)send(fd, "garbagegarbagegarbagegarbagegarbagegarbage", 42, MSG_NOSIGNAL);
  return AddOne(launch);
}
