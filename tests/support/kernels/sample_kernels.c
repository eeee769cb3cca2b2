/* Kernels that behave. Each says which buffers it wants. */
#include <stdint.h>

#include "backends/runner/pyptox_kernel.h"

/* f32 in, f32 out: out[i] = in[i] + 1, over any strides of one axis. */
int32_t add_one(const pyptox_launch* launch) {
  const pyptox_buffer* in = &launch->buffers[0];
  const pyptox_buffer* out = &launch->buffers[1];
  const float* from = in->data;
  float* to = out->data;
  if (in->rank != 1 || out->rank != 1 || in->shape[0] != out->shape[0]) return PYPTOX_REFUSED_ARGUMENT;
  for (uint64_t i = 0; i < in->shape[0]; ++i) to[i * out->strides[0]] = from[i * in->strides[0]] + 1.0f;
  return PYPTOX_DONE;
}

/* u32 buffers: s = sum of every input's first element; out[i] = s + i, state[i] += s. */
int32_t spread_sum(const pyptox_launch* launch) {
  uint32_t sum = 0;
  for (uint32_t b = 0; b < launch->buffer_count; ++b) {
    const pyptox_buffer* buffer = &launch->buffers[b];
    if (buffer->role == PYPTOX_IN && buffer->bytes > 0) sum += ((const uint32_t*)buffer->data)[0];
  }
  for (uint32_t b = 0; b < launch->buffer_count; ++b) {
    const pyptox_buffer* buffer = &launch->buffers[b];
    uint32_t* data = buffer->data;
    for (uint64_t i = 0; i < buffer->bytes / 4; ++i) {
      if (buffer->role == PYPTOX_OUT) data[i] = sum + (uint32_t)i;
      if (buffer->role == PYPTOX_INOUT) data[i] += sum;
    }
  }
  return PYPTOX_DONE;
}

/* u64 out of 8: what the launch looked like. */
int32_t describe_launch(const pyptox_launch* launch) {
  const pyptox_buffer* in = &launch->buffers[0];
  uint64_t* out = launch->buffers[1].data;
  out[0] = launch->abi_version;
  out[1] = (uint64_t)(uintptr_t)in->data % 4096;
  out[2] = in->bytes;
  out[3] = in->dtype;
  out[4] = in->rank;
  out[5] = launch->param_count;
  out[6] = (uint64_t)launch->params[0].i64;
  out[7] = launch->params[1].is_float ? (uint64_t)(launch->params[1].f64 * 4) : 0;
  return PYPTOX_DONE;
}

/* Any buffers: touches nothing. */
int32_t refuse_index(const pyptox_launch* launch) {
  (void)launch;
  return PYPTOX_REFUSED_INDEX;
}
