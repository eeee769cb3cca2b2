/* The functions of the contract that are not one IEEE operation (README.md, "Numbers"), on vectors. */
#ifndef PORTABLE_OPS_KERNELS_NUMERIC_H_
#define PORTABLE_OPS_KERNELS_NUMERIC_H_

#include "vector.h"

/* `a` when a > b, else `b`. */
V_INLINE vf v_max(vf a, vf b) { return v_select(v_lt(b, a), a, b); }
/* `a` when a < b, else `b`. */
V_INLINE vf v_min(vf a, vf b) { return v_select(v_lt(a, b), a, b); }

V_INLINE vf v_negate(vf x) { return v_float(v_xor(v_bits(x), v_isplat(0x80000000u))); }

V_INLINE vf v_exp(vf x) {
  const vf magic = v_splat(12582912.0f); /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
  const vf bounded = v_max(v_min(x, v_splat(88.0f)), v_splat(-86.0f));
  const vf shifted = v_add(v_mul(bounded, v_splat(1.44269504f)), magic);
  const vi n = v_isub(v_bits(shifted), v_bits(magic));
  const vf whole = v_sub(shifted, magic);
  vf r = v_sub(bounded, v_mul(whole, v_splat(0.693359375f)));
  r = v_sub(r, v_mul(whole, v_splat(-2.12194440e-4f)));
  vf p = v_splat(1.9875691500e-4f);
  p = v_add(v_mul(p, r), v_splat(1.3981999507e-3f));
  p = v_add(v_mul(p, r), v_splat(8.3334519073e-3f));
  p = v_add(v_mul(p, r), v_splat(4.1665795894e-2f));
  p = v_add(v_mul(p, r), v_splat(1.6666665459e-1f));
  p = v_add(v_mul(p, r), v_splat(5.0000001201e-1f));
  p = v_add(v_add(v_mul(p, v_mul(r, r)), r), v_splat(1.0f));
  const vf scaled = v_float(v_iadd(v_bits(p), v_shl(n, 23)));
  return v_select(v_lt(x, v_splat(-86.0f)), v_float(v_isplat(0)), scaled);
}

V_INLINE vf v_sigmoid(vf x) {
  const vf one = v_splat(1.0f);
  return v_div(one, v_add(one, v_exp(v_negate(x))));
}

V_INLINE vf v_silu(vf x) { return v_div(x, v_add(v_splat(1.0f), v_exp(v_negate(x)))); }

V_INLINE vf v_from_bf16(vi half) { return v_float(v_shl(half, 16)); }

/* Round to nearest even; NaN is made quiet and keeps its sign and leading payload. */
V_INLINE vi v_to_bf16(vf x) {
  const vi bits = v_bits(x);
  const vi odd = v_and(v_shr(bits, 16), v_isplat(1));
  const vi rounded = v_shr(v_iadd(v_iadd(bits, v_isplat(0x7fff)), odd), 16);
  const vi quiet = v_or(v_shr(bits, 16), v_isplat(0x40));
  const vm is_nan = v_ilt(v_isplat(0x7f800000u), v_and(bits, v_isplat(0x7fffffffu)));
  return v_iselect(is_nan, quiet, rounded);
}

/* Truncates; values out of range saturate, NaN becomes 0. */
V_INLINE vi v_to_i32_saturated(vf x) {
  const vf low = v_splat(-2147483648.0f), high = v_splat(2147483648.0f), zero = v_float(v_isplat(0));
  const vm above = v_le(high, x), below = v_lt(x, low);
  const vf inside = v_select(v_lt(x, high), v_select(v_le(low, x), x, zero), zero);
  const vi whole = v_iselect(above, v_isplat(0x7fffffffu), v_to_i32(inside));
  return v_iselect(below, v_isplat(0x80000000u), whole);
}

/* `x` bounded by [low, high] as signed integers. */
V_INLINE vi v_iclamp(vi x, int32_t low, int32_t high) {
  const vi floor = v_isplat((uint32_t)low), ceiling = v_isplat((uint32_t)high);
  const vi raised = v_iselect(v_ilt(x, floor), floor, x);
  return v_iselect(v_ilt(ceiling, raised), ceiling, raised);
}

#endif /* PORTABLE_OPS_KERNELS_NUMERIC_H_ */
