/* po_matmul: [..., m, k] x [..., k, n] -> [..., m, n] with equal leading extents, f32 or bf16, dense. */
#include "launch.h"
#include "rows.h"

PORTABLE_OPS_KERNEL po_matmul(const pyptox_launch* launch) {
  if (!launch_has(launch, 2, 0, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *a = &launch->buffers[0], *b = &launch->buffers[1], *out = &launch->buffers[2];
  const uint32_t rank = out->rank;
  if (!dtype_is_real(out->dtype) || rank < 2) return PYPTOX_REFUSED_ARGUMENT;
  if (!is_array(a, out->dtype, rank) || !is_array(b, out->dtype, rank) || !is_dense(out)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  for (uint32_t axis = 0; axis + 2 < rank; axis++) {
    if (a->shape[axis] != out->shape[axis] || b->shape[axis] != out->shape[axis]) return PYPTOX_REFUSED_ARGUMENT;
  }
  const uint64_t m = out->shape[rank - 2], n = out->shape[rank - 1], k = a->shape[rank - 1];
  if (a->shape[rank - 2] != m || b->shape[rank - 2] != k || b->shape[rank - 1] != n || k > kRowMax || n > kRowMax) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  float left[kRowMax], result[kRowMax];
  const uint64_t rows = extent_product(out, 0, rank - 1);
  for (uint64_t row = 0; row < rows; row++) {
    row_load(left, a, row * k, 1, k);
    row_times_matrix(result, left, k, b, row / m * k * n, n);
    row_store(result, out, row * n, 1, n);
  }
  return PYPTOX_DONE;
}
