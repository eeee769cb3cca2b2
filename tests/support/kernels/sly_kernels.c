/* Kernels whose fault hides from a look at the end. All take f32 in, f32 out of one axis; the right output is 1. */
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "backends/runner/pyptox_kernel.h"

static int32_t FillWithOne(const pyptox_launch* launch) {
  float* to = launch->buffers[1].data;
  for (uint64_t i = 0; i < launch->buffers[1].bytes / 4; ++i) to[i] = 1.0f;
  return PYPTOX_DONE;
}

/* Every second launch puts the input back. */
int32_t toggle_input(const pyptox_launch* launch) {
  ((unsigned char*)launch->buffers[0].data)[0] ^= 1;
  return FillWithOne(launch);
}

/* A descendant holds the runner's channel open for three seconds past the crash. */
int32_t crash_beside_a_child(const pyptox_launch* launch) {
  if (fork() == 0) {
    sleep(3);
    _exit(0);
  }
  raise(SIGSEGV);
  return FillWithOne(launch);
}
