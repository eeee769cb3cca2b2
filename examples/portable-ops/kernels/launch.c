#include "launch.h"

#include <string.h>

bool launch_has(const pyptox_launch* launch, uint32_t in, uint32_t inout, uint32_t out, uint32_t params) {
  if (launch->abi_version != PYPTOX_KERNEL_ABI) return false;
  if (launch->buffer_count != in + inout + out || launch->param_count != params) return false;
  for (uint32_t b = 0; b < launch->buffer_count; b++) {
    const uint32_t role = b < in ? PYPTOX_IN : b < in + inout ? PYPTOX_INOUT : PYPTOX_OUT;
    if (launch->buffers[b].role != role || launch->buffers[b].rank > kRankMax) return false;
  }
  return true;
}

bool launch_integer(const pyptox_launch* launch, uint32_t index, int64_t low, int64_t high, int64_t* value) {
  const pyptox_param* param = &launch->params[index];
  *value = param->i64;
  return !param->is_float && low <= *value && *value <= high;
}

bool launch_real(const pyptox_launch* launch, uint32_t index, float* value) {
  const pyptox_param* param = &launch->params[index];
  *value = (float)param->f64;
  return param->is_float;
}

size_t dtype_size(uint32_t dtype) {
  static const uint8_t size[] = {0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8, 1};
  return dtype < sizeof size ? size[dtype] : 0;
}

bool dtype_is_real(uint32_t dtype) { return dtype == PYPTOX_F32 || dtype == PYPTOX_BF16; }

uint64_t extent_product(const pyptox_buffer* buffer, uint32_t first, uint32_t last) {
  uint64_t product = 1;
  for (uint32_t axis = first; axis < last; axis++) product *= buffer->shape[axis];
  return product;
}

uint64_t element_count(const pyptox_buffer* buffer) { return extent_product(buffer, 0, buffer->rank); }

bool same_shape(const pyptox_buffer* a, const pyptox_buffer* b) {
  if (a->rank != b->rank) return false;
  for (uint32_t axis = 0; axis < a->rank; axis++) {
    if (a->shape[axis] != b->shape[axis]) return false;
  }
  return true;
}

bool is_dense(const pyptox_buffer* buffer) {
  uint64_t step = 1;
  for (uint32_t axis = buffer->rank; axis-- > 0;) {
    if (buffer->shape[axis] > 1 && buffer->strides[axis] != step) return false;
    step *= buffer->shape[axis];
  }
  return true;
}

bool is_array(const pyptox_buffer* buffer, uint32_t dtype, uint32_t rank) {
  return buffer->dtype == dtype && buffer->rank == rank && is_dense(buffer);
}

uint64_t element_offset(const pyptox_buffer* buffer, uint32_t axes, uint64_t index) {
  uint64_t offset = 0;
  for (uint32_t axis = axes; axis-- > 0;) {
    offset += index % buffer->shape[axis] * buffer->strides[axis];
    index /= buffer->shape[axis];
  }
  return offset;
}

void* element_at(const pyptox_buffer* buffer, uint64_t offset) {
  return (char*)buffer->data + offset * dtype_size(buffer->dtype);
}

void element_copy(void* to, const void* from, size_t size) {
  switch (size) {
    case 1:
      memcpy(to, from, 1);
      break;
    case 2:
      memcpy(to, from, 2);
      break;
    case 4:
      memcpy(to, from, 4);
      break;
    case 8:
      memcpy(to, from, 8);
      break;
    default:
      break;
  }
}
