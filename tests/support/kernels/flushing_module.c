/* A module whose initialiser switches flush-to-zero on, as linking with -ffast-math does with some compilers. */
#include <stdint.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "backends/runner/pyptox_kernel.h"

__attribute__((constructor)) static void SwitchOn(void) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040u);
#else
  __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)1 << 24));
#endif
}

int32_t add_one(const pyptox_launch* launch) {
  const float* from = launch->buffers[0].data;
  float* to = launch->buffers[1].data;
  for (uint64_t i = 0; i < launch->buffers[0].bytes / 4; ++i) to[i] = from[i] + 1.0f;
  return PYPTOX_DONE;
}
