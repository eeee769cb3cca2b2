/* po_gather and po_embedding: elements picked by i32 or i64 indices out of the data. An index below 0 or past the end
 * refuses the whole launch. */
#include <string.h>

#include "launch.h"

static int64_t index_at(const pyptox_buffer* indices, uint64_t i) {
  const void* from = element_at(indices, i);
  int32_t narrow;
  int64_t wide;
  if (indices->dtype == PYPTOX_I32) {
    memcpy(&narrow, from, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, from, sizeof wide);
  return wide;
}

/* out[o, i, r] = table[o, indices[i], r] for o < outer and r < inner. */
static int32_t pick(const pyptox_buffer* table, const pyptox_buffer* indices, const pyptox_buffer* out, uint64_t outer,
                    uint64_t extent, uint64_t inner) {
  const uint64_t count = element_count(indices);
  for (uint64_t i = 0; i < count; i++) {
    const int64_t index = index_at(indices, i);
    if (index < 0 || (uint64_t)index >= extent) return PYPTOX_REFUSED_INDEX;
  }
  for (uint64_t o = 0; o < outer; o++) {
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t from = (o * extent + (uint64_t)index_at(indices, i)) * inner, to = (o * count + i) * inner;
      if (inner > 0) memcpy(element_at(out, to), element_at(table, from), inner * dtype_size(out->dtype));
    }
  }
  return PYPTOX_DONE;
}

/* Parameter: the axis of the table that the indices run along; it is replaced by the axes of the indices. */
static int32_t gather(const pyptox_launch* launch, uint32_t axis) {
  const pyptox_buffer *table = &launch->buffers[0], *indices = &launch->buffers[1], *out = &launch->buffers[2];
  if (indices->dtype != PYPTOX_I32 && indices->dtype != PYPTOX_I64) return PYPTOX_REFUSED_ARGUMENT;
  if (!is_dense(table) || !is_dense(indices) || !is_dense(out) || table->dtype != out->dtype ||
      out->rank + 1 != table->rank + indices->rank) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  for (uint32_t a = 0; a < out->rank; a++) {
    const uint64_t extent = a < axis                   ? table->shape[a]
                            : a < axis + indices->rank ? indices->shape[a - axis]
                                                       : table->shape[a - indices->rank + 1];
    if (out->shape[a] != extent) return PYPTOX_REFUSED_ARGUMENT;
  }
  return pick(table, indices, out, extent_product(table, 0, axis), table->shape[axis],
              extent_product(table, axis + 1, table->rank));
}

PORTABLE_OPS_KERNEL po_gather(const pyptox_launch* launch) {
  int64_t axis;
  if (!launch_has(launch, 2, 0, 1, 1)) return PYPTOX_REFUSED_ARGUMENT;
  if (!launch_integer(launch, 0, 0, (int64_t)launch->buffers[0].rank - 1, &axis)) return PYPTOX_REFUSED_ARGUMENT;
  return gather(launch, (uint32_t)axis);
}

/* Rows of a table of rank 2. */
PORTABLE_OPS_KERNEL po_embedding(const pyptox_launch* launch) {
  if (!launch_has(launch, 2, 0, 1, 0) || launch->buffers[0].rank != 2) return PYPTOX_REFUSED_ARGUMENT;
  return gather(launch, 0);
}
