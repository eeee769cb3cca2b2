/* po_transpose, po_slice, po_split, po_concat: elements of any dtype move, none is changed. */
#include "launch.h"

/* A box of elements of a buffer: its first element and the steps along its axes. */
typedef struct box {
  const pyptox_buffer* buffer;
  uint64_t start;
  const uint64_t* steps;
} box;

/* Copies the elements of one box to another of the same extents. */
static void move(box to, box from, const uint64_t* shape) {
  const size_t size = dtype_size(to.buffer->dtype);
  const uint32_t rank = to.buffer->rank;
  uint64_t count = 1;
  for (uint32_t axis = 0; axis < rank; axis++) count *= shape[axis];
  for (uint64_t i = 0; i < count; i++) {
    uint64_t rest = i, target = to.start, source = from.start;
    for (uint32_t axis = rank; axis-- > 0; rest /= shape[axis]) {
      target += rest % shape[axis] * to.steps[axis];
      source += rest % shape[axis] * from.steps[axis];
    }
    element_copy(element_at(to.buffer, target), element_at(from.buffer, source), size);
  }
}

/* Parameters: for each axis of the output, the axis of the input that it shows. */
PORTABLE_OPS_KERNEL po_transpose(const pyptox_launch* launch) {
  if (launch->buffer_count != 2) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *in = &launch->buffers[0], *out = &launch->buffers[1];
  if (!launch_has(launch, 1, 0, 1, out->rank) || in->dtype != out->dtype || in->rank != out->rank) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  uint64_t steps[kRankMax];
  uint32_t seen = 0;
  for (uint32_t axis = 0; axis < out->rank; axis++) {
    int64_t source;
    if (!launch_integer(launch, axis, 0, (int64_t)in->rank - 1, &source)) return PYPTOX_REFUSED_ARGUMENT;
    if (out->shape[axis] != in->shape[source]) return PYPTOX_REFUSED_ARGUMENT;
    steps[axis] = in->strides[source];
    seen |= 1u << source;
  }
  if (seen != (1u << out->rank) - 1) return PYPTOX_REFUSED_ARGUMENT;
  move((box){out, 0, out->strides}, (box){in, 0, steps}, out->shape);
  return PYPTOX_DONE;
}

/* Parameters: for each axis where the slice starts, then for each axis its step (at least 1). */
PORTABLE_OPS_KERNEL po_slice(const pyptox_launch* launch) {
  if (launch->buffer_count != 2) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *in = &launch->buffers[0], *out = &launch->buffers[1];
  const uint32_t rank = out->rank;
  if (!launch_has(launch, 1, 0, 1, 2 * rank) || in->dtype != out->dtype || in->rank != rank) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  uint64_t steps[kRankMax], start = 0;
  for (uint32_t axis = 0; axis < rank; axis++) {
    int64_t begin, step;
    const int64_t extent = (int64_t)in->shape[axis];
    if (!launch_integer(launch, axis, 0, extent, &begin)) return PYPTOX_REFUSED_ARGUMENT;
    if (!launch_integer(launch, rank + axis, 1, INT32_MAX, &step)) return PYPTOX_REFUSED_ARGUMENT;
    const uint64_t taken = out->shape[axis];
    if (taken > 0 && (uint64_t)begin + (taken - 1) * (uint64_t)step >= in->shape[axis]) return PYPTOX_REFUSED_ARGUMENT;
    start += (uint64_t)begin * in->strides[axis];
    steps[axis] = (uint64_t)step * in->strides[axis];
  }
  move((box){out, 0, out->strides}, (box){in, start, steps}, out->shape);
  return PYPTOX_DONE;
}

/* Whether `parts` fill `whole` one behind the other along `axis` and agree with it elsewhere. */
static bool fills(const pyptox_buffer* whole, const pyptox_buffer* parts, uint32_t count, uint32_t axis) {
  uint64_t total = 0;
  for (uint32_t p = 0; p < count; p++) {
    if (parts[p].dtype != whole->dtype || parts[p].rank != whole->rank) return false;
    for (uint32_t a = 0; a < whole->rank; a++) {
      if (a != axis && parts[p].shape[a] != whole->shape[a]) return false;
    }
    total += parts[p].shape[axis];
  }
  return total == whole->shape[axis];
}

/* Parameter: the axis. One input, any number of outputs. */
PORTABLE_OPS_KERNEL po_split(const pyptox_launch* launch) {
  int64_t axis;
  if (launch->buffer_count < 2 || !launch_has(launch, 1, 0, launch->buffer_count - 1, 1)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  const pyptox_buffer *in = &launch->buffers[0], *parts = &launch->buffers[1];
  const uint32_t count = launch->buffer_count - 1;
  if (!launch_integer(launch, 0, 0, (int64_t)in->rank - 1, &axis) || !fills(in, parts, count, (uint32_t)axis)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  uint64_t start = 0;
  for (uint32_t p = 0; p < count; p++) {
    move((box){&parts[p], 0, parts[p].strides}, (box){in, start, in->strides}, parts[p].shape);
    start += parts[p].shape[axis] * in->strides[axis];
  }
  return PYPTOX_DONE;
}

/* Parameter: the axis. Any number of inputs, one output. */
PORTABLE_OPS_KERNEL po_concat(const pyptox_launch* launch) {
  int64_t axis;
  if (launch->buffer_count < 2 || !launch_has(launch, launch->buffer_count - 1, 0, 1, 1)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  const uint32_t count = launch->buffer_count - 1;
  const pyptox_buffer *parts = launch->buffers, *out = &launch->buffers[count];
  if (!launch_integer(launch, 0, 0, (int64_t)out->rank - 1, &axis) || !fills(out, parts, count, (uint32_t)axis)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  uint64_t start = 0;
  for (uint32_t p = 0; p < count; p++) {
    move((box){out, start, out->strides}, (box){&parts[p], 0, parts[p].strides}, parts[p].shape);
    start += parts[p].shape[axis] * out->strides[axis];
  }
  return PYPTOX_DONE;
}
