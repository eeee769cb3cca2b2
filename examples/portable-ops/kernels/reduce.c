/* po_sum, po_max, po_mean: over `count` axes from `first` on (parameters: first, count), f32 or bf16, dense. */
#include "launch.h"
#include "rows.h"

enum { kChunk = 256, kColumns = 64 };

typedef struct reduction {
  row_operation operation;
  bool mean;
} reduction;

/* The reduced axes are the last ones: each result comes from `length` consecutive elements. */
static float reduce_row(const reduction* r, const pyptox_buffer* in, uint64_t offset, uint64_t length) {
  float partials[kPartials], row[kChunk];
  row_identity(partials, r->operation, kPartials);
  for (uint64_t i = 0; i < length; i += kChunk) {
    const size_t n = length - i < kChunk ? length - i : kChunk;
    row_load(row, in, offset + i, 1, n);
    partials_take(partials, r->operation, row, n);
  }
  return partials_fold(partials, r->operation);
}

/* Axes remain behind the reduced ones: `n` results side by side, the elements of each `inner` apart. */
static void reduce_columns(const reduction* r, float* result, const pyptox_buffer* in, uint64_t offset, uint64_t length,
                           uint64_t inner, size_t n) {
  float partials[kPartials][kColumns], row[kColumns];
  for (size_t p = 0; p < kPartials; p++) row_identity(partials[p], r->operation, n);
  for (uint64_t i = 0; i < length; i++) {
    row_load(row, in, offset + i * inner, 1, n);
    r->operation(partials[i % kPartials], partials[i % kPartials], row, n);
  }
  for (size_t half = kPartials / 2; half > 0; half /= 2) {
    for (size_t p = 0; p < half; p++) r->operation(partials[p], partials[p], partials[p + half], n);
  }
  row_copy(result, partials[0], n);
}

static void reduce(const reduction* r, const pyptox_buffer* in, const pyptox_buffer* out, uint32_t first,
                   uint32_t last) {
  const uint64_t outer = extent_product(in, 0, first), length = extent_product(in, first, last);
  const uint64_t inner = extent_product(in, last, in->rank);
  float divisor[kColumns], result[kColumns];
  row_fill(divisor, (float)length, kColumns);
  for (uint64_t o = 0; o < outer; o++) {
    for (uint64_t i = 0; i < inner; i += kColumns) {
      const size_t n = inner - i < kColumns ? inner - i : kColumns;
      const uint64_t offset = o * length * inner + i;
      if (inner == 1) {
        result[0] = reduce_row(r, in, offset, length);
      } else {
        reduce_columns(r, result, in, offset, length, inner, n);
      }
      if (r->mean) row_div(result, result, divisor, n);
      row_store(result, out, o * inner + i, 1, n);
    }
  }
}

static int32_t run(const pyptox_launch* launch, const reduction* r) {
  int64_t first, count;
  if (!launch_has(launch, 1, 0, 1, 2)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer* in = &launch->buffers[0];
  const pyptox_buffer* out = &launch->buffers[1];
  if (!launch_integer(launch, 0, 0, in->rank, &first)) return PYPTOX_REFUSED_ARGUMENT;
  if (!launch_integer(launch, 1, 0, in->rank - first, &count)) return PYPTOX_REFUSED_ARGUMENT;
  if (!dtype_is_real(in->dtype) || in->dtype != out->dtype || !is_dense(in) || !is_dense(out) ||
      out->rank != in->rank - count) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  for (uint32_t axis = 0; axis < out->rank; axis++) {
    if (out->shape[axis] != in->shape[axis < first ? axis : axis + count]) return PYPTOX_REFUSED_ARGUMENT;
  }
  const uint32_t last = (uint32_t)(first + count);
  if (r->mean && extent_product(in, (uint32_t)first, last) == 0) return PYPTOX_REFUSED_ARGUMENT;
  reduce(r, in, out, (uint32_t)first, last);
  return PYPTOX_DONE;
}

PORTABLE_OPS_KERNEL po_sum(const pyptox_launch* launch) { return run(launch, &(reduction){.operation = row_add}); }
PORTABLE_OPS_KERNEL po_max(const pyptox_launch* launch) { return run(launch, &(reduction){.operation = row_max}); }
PORTABLE_OPS_KERNEL po_mean(const pyptox_launch* launch) {
  return run(launch, &(reduction){.operation = row_add, .mean = true});
}
