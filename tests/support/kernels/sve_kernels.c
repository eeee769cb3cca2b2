/* Needs SVE. u64 out of 1: bytes in a vector; and f32 in, f32 out by vectors of any length. */
#include <arm_sve.h>
#include <stdint.h>

#include "backends/runner/pyptox_kernel.h"

int32_t vector_bytes(const pyptox_launch* launch) {
  ((uint64_t*)launch->buffers[0].data)[0] = svcntb();
  return PYPTOX_DONE;
}

int32_t add_one(const pyptox_launch* launch) {
  const float* from = launch->buffers[0].data;
  float* to = launch->buffers[1].data;
  const uint64_t count = launch->buffers[0].bytes / 4;
  for (uint64_t i = 0; i < count; i += svcntw()) {
    const svbool_t lanes = svwhilelt_b32_u64(i, count);
    svst1_f32(lanes, to + i, svadd_n_f32_x(lanes, svld1_f32(lanes, from + i), 1.0f));
  }
  return PYPTOX_DONE;
}
