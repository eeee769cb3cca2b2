/* po_equal, po_less, po_less_equal (f32, bf16 or i32 -> bool) and po_where (bool, a, b -> a or b); dense. */
#include "launch.h"
#include "numeric.h"
#include "rows.h"

typedef enum relation { kEqual, kLess, kLessEqual } relation;

static vm holds(relation r, vf a, vf b) { return r == kEqual ? v_eq(a, b) : r == kLess ? v_lt(a, b) : v_le(a, b); }

static vi holds_integer(relation r, vi a, vi b) {
  const vi one = v_isplat(1), zero = v_isplat(0);
  if (r == kEqual) return v_iselect(v_ieq(a, b), one, zero);
  if (r == kLess) return v_iselect(v_ilt(a, b), one, zero);
  return v_iselect(v_ilt(b, a), zero, one);
}

static vf load_real(vm m, const pyptox_buffer* buffer, size_t i) {
  const void* from = element_at(buffer, i);
  return buffer->dtype == PYPTOX_BF16 ? v_from_bf16(v_load16(m, from)) : v_load(m, from);
}

static int32_t compare(const pyptox_launch* launch, relation r) {
  if (!launch_has(launch, 2, 0, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *a = &launch->buffers[0], *b = &launch->buffers[1], *out = &launch->buffers[2];
  if (!dtype_is_real(a->dtype) && a->dtype != PYPTOX_I32) return PYPTOX_REFUSED_ARGUMENT;
  if (!is_dense(a) || !is_array(b, a->dtype, a->rank) || !is_array(out, PYPTOX_BOOL, a->rank) || !same_shape(a, b) ||
      !same_shape(a, out)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  const size_t n = element_count(out);
  for (size_t i = 0; i < n; i += v_lanes()) {
    const vm m = v_first(i, n);
    vi result;
    if (a->dtype == PYPTOX_I32) {
      result = holds_integer(r, v_load32(m, element_at(a, i)), v_load32(m, element_at(b, i)));
    } else {
      result = v_iselect(holds(r, load_real(m, a, i), load_real(m, b, i)), v_isplat(1), v_isplat(0));
    }
    v_store8(m, element_at(out, i), result);
  }
  return PYPTOX_DONE;
}

PORTABLE_OPS_KERNEL po_equal(const pyptox_launch* launch) { return compare(launch, kEqual); }
PORTABLE_OPS_KERNEL po_less(const pyptox_launch* launch) { return compare(launch, kLess); }
PORTABLE_OPS_KERNEL po_less_equal(const pyptox_launch* launch) { return compare(launch, kLessEqual); }

PORTABLE_OPS_KERNEL po_where(const pyptox_launch* launch) {
  if (!launch_has(launch, 3, 0, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *condition = &launch->buffers[0], *a = &launch->buffers[1], *b = &launch->buffers[2];
  const pyptox_buffer* out = &launch->buffers[3];
  const size_t size = dtype_size(out->dtype);
  if ((size != 2 && size != 4) || !is_dense(out) || !is_array(condition, PYPTOX_BOOL, out->rank) ||
      !is_array(a, out->dtype, out->rank) || !is_array(b, out->dtype, out->rank) || !same_shape(condition, out) ||
      !same_shape(a, out) || !same_shape(b, out)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  const size_t n = element_count(out);
  for (size_t i = 0; i < n; i += v_lanes()) {
    const vm m = v_first(i, n);
    const vm no = v_ieq(v_load8(m, element_at(condition, i)), v_isplat(0));
    if (size == 2) {
      const vi picked = v_iselect(no, v_load16(m, element_at(b, i)), v_load16(m, element_at(a, i)));
      v_store16(m, element_at(out, i), picked);
    } else {
      const vi picked = v_iselect(no, v_load32(m, element_at(b, i)), v_load32(m, element_at(a, i)));
      v_store32(m, element_at(out, i), picked);
    }
  }
  return PYPTOX_DONE;
}
