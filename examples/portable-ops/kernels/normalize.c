/* po_softmax and po_rms_norm along the last axis, f32 or bf16, dense. */
#include "launch.h"
#include "rows.h"

/* Whether `in` and `out` are equal in dtype and shape and have rows that fit on the stack. */
static bool rows_fit(const pyptox_buffer* in, const pyptox_buffer* out) {
  return dtype_is_real(out->dtype) && out->rank >= 1 && is_array(in, out->dtype, out->rank) && is_dense(out) &&
         same_shape(in, out) && out->shape[out->rank - 1] >= 1 && out->shape[out->rank - 1] <= kRowMax;
}

PORTABLE_OPS_KERNEL po_softmax(const pyptox_launch* launch) {
  if (!launch_has(launch, 1, 0, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *in = &launch->buffers[0], *out = &launch->buffers[1];
  if (!rows_fit(in, out)) return PYPTOX_REFUSED_ARGUMENT;
  float row[kRowMax], other[kRowMax];
  const uint64_t rows = extent_product(out, 0, out->rank - 1);
  const size_t n = out->shape[out->rank - 1];
  for (uint64_t r = 0; r < rows; r++) {
    row_load(row, in, r * n, 1, n);
    row_fill(other, row_greatest(row, n), n);
    row_sub(row, row, other, n);
    row_exp(row, row, n);
    row_fill(other, row_sum(row, n), n);
    row_div(row, row, other, n);
    row_store(row, out, r * n, 1, n);
  }
  return PYPTOX_DONE;
}

/* Inputs: x and the weight, one value per column. Parameter: epsilon. */
PORTABLE_OPS_KERNEL po_rms_norm(const pyptox_launch* launch) {
  float epsilon;
  if (!launch_has(launch, 2, 0, 1, 1) || !launch_real(launch, 0, &epsilon)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *in = &launch->buffers[0], *weight = &launch->buffers[1], *out = &launch->buffers[2];
  if (!rows_fit(in, out) || !is_array(weight, out->dtype, 1) || weight->shape[0] != out->shape[out->rank - 1]) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  float row[kRowMax], scale[kRowMax];
  const uint64_t rows = extent_product(out, 0, out->rank - 1);
  const size_t n = out->shape[out->rank - 1];
  row_load(scale, weight, 0, 1, n);
  for (uint64_t r = 0; r < rows; r++) {
    row_load(row, in, r * n, 1, n);
    row_rms_norm(row, row, scale, epsilon, n);
    row_store(row, out, r * n, 1, n);
  }
  return PYPTOX_DONE;
}
