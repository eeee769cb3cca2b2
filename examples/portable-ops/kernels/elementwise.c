/* po_add, po_sub, po_mul, po_div, po_exp, po_sigmoid, po_silu: any shape and layout, f32 or bf16; po_cast. */
#include "launch.h"
#include "rows.h"

enum { kChunk = 256 };

/* How a set of equally shaped buffers is walked: rows of the last axis, or all as one row when every one is dense. */
typedef struct walk {
  uint32_t outer_axes; /* axes in front of the row */
  uint64_t rows;
  uint64_t length; /* of a row */
} walk;

static walk walk_of(const pyptox_buffer* buffers, uint32_t count) {
  bool dense = true;
  for (uint32_t b = 0; b < count; b++) dense = dense && is_dense(&buffers[b]);
  const pyptox_buffer* first = &buffers[0];
  if (dense || first->rank == 0) return (walk){0, 1, element_count(first)};
  const uint32_t outer = first->rank - 1;
  return (walk){outer, extent_product(first, 0, outer), first->shape[outer]};
}

static uint64_t row_step(const walk* w, const pyptox_buffer* buffer) {
  return w->outer_axes + 1 == buffer->rank ? buffer->strides[w->outer_axes] : 1;
}

typedef void (*row_map)(float* out, const float* a, size_t n);

/* Runs a row operation with one or two inputs over all elements; the output is the last buffer. */
static void run(const pyptox_launch* launch, row_map map, row_operation operation) {
  const pyptox_buffer* in = launch->buffers;
  const pyptox_buffer* out = &launch->buffers[launch->buffer_count - 1];
  const walk w = walk_of(launch->buffers, launch->buffer_count);
  float a[kChunk], b[kChunk];
  for (uint64_t row = 0; row < w.rows; row++) {
    for (uint64_t i = 0; i < w.length; i += kChunk) {
      const size_t n = w.length - i < kChunk ? w.length - i : kChunk;
      const uint64_t step = row_step(&w, &in[0]);
      row_load(a, &in[0], element_offset(&in[0], w.outer_axes, row) + i * step, step, n);
      if (operation) {
        const uint64_t second_step = row_step(&w, &in[1]);
        row_load(b, &in[1], element_offset(&in[1], w.outer_axes, row) + i * second_step, second_step, n);
        operation(a, a, b, n);
      } else if (map) {
        map(a, a, n);
      }
      const uint64_t out_step = row_step(&w, out);
      row_store(a, out, element_offset(out, w.outer_axes, row) + i * out_step, out_step, n);
    }
  }
}

static int32_t compute(const pyptox_launch* launch, row_map map, row_operation operation) {
  const uint32_t inputs = operation ? 2 : 1;
  if (!launch_has(launch, inputs, 0, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer* out = &launch->buffers[inputs];
  for (uint32_t b = 0; b < inputs; b++) {
    const pyptox_buffer* in = &launch->buffers[b];
    if (in->dtype != out->dtype || !same_shape(in, out)) return PYPTOX_REFUSED_ARGUMENT;
  }
  if (!dtype_is_real(out->dtype)) return PYPTOX_REFUSED_ARGUMENT;
  run(launch, map, operation);
  return PYPTOX_DONE;
}

PORTABLE_OPS_KERNEL po_add(const pyptox_launch* launch) { return compute(launch, NULL, row_add); }
PORTABLE_OPS_KERNEL po_sub(const pyptox_launch* launch) { return compute(launch, NULL, row_sub); }
PORTABLE_OPS_KERNEL po_mul(const pyptox_launch* launch) { return compute(launch, NULL, row_mul); }
PORTABLE_OPS_KERNEL po_div(const pyptox_launch* launch) { return compute(launch, NULL, row_div); }
PORTABLE_OPS_KERNEL po_exp(const pyptox_launch* launch) { return compute(launch, row_exp, NULL); }
PORTABLE_OPS_KERNEL po_sigmoid(const pyptox_launch* launch) { return compute(launch, row_sigmoid, NULL); }
PORTABLE_OPS_KERNEL po_silu(const pyptox_launch* launch) { return compute(launch, row_silu, NULL); }

/* Between any two of f32, bf16, f16, i8, u8 and i32, through f32. */
PORTABLE_OPS_KERNEL po_cast(const pyptox_launch* launch) {
  if (!launch_has(launch, 1, 0, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer* in = &launch->buffers[0];
  const pyptox_buffer* out = &launch->buffers[1];
  if (!row_dtype(in->dtype) || !row_dtype(out->dtype) || !same_shape(in, out)) return PYPTOX_REFUSED_ARGUMENT;
  run(launch, NULL, NULL);
  return PYPTOX_DONE;
}
