/* The vector interface of the kernels, for plain C: one lane.
 *
 * Every isa/NAME/vector.h offers the same types and functions; a lane chooses one with -Isrc/isa/NAME.
 *
 *   vf, vi, vm        a vector of f32, of 32-bit integers, and a mask over their lanes
 *   v_lanes           number of lanes of a vector, known only at run time on some machines
 *   v_first(i, n)     mask of the lanes l with i + l < n: full inside, partial in the tail, empty behind it
 *   v_load*, v_store* touch only the masked lanes, at any address; lanes left out read as 0. The forms with 16 and
 *                     8 move elements of that many bits, zero-extended to a lane and cut from it
 *   v_add ... v_sqrt  one IEEE operation with one rounding to nearest even
 *   v_lt ...          ordered comparisons, false for NaN; v_ilt compares signed integers
 *   v_select(m, a, b) a where the mask is set, else b
 *   v_bits, v_float   the same 32 bits as an integer, as a float
 *   v_to_i32          truncates; the value must be in range
 *   v_from_f16 ...    binary16 in the low half of a lane; NaN is made quiet and keeps sign and leading payload
 */
#ifndef PORTABLE_OPS_ISA_SCALAR_VECTOR_H_
#define PORTABLE_OPS_ISA_SCALAR_VECTOR_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define V_INLINE static inline __attribute__((always_inline, unused))

typedef float vf;
typedef uint32_t vi;
typedef int vm;

V_INLINE size_t v_lanes(void) { return 1; }
V_INLINE vm v_first(size_t i, size_t n) { return i < n; }

V_INLINE vi v_load32(vm m, const void* p) {
  vi x = 0;
  if (m) memcpy(&x, p, 4);
  return x;
}
V_INLINE vi v_load16(vm m, const void* p) {
  uint16_t x = 0;
  if (m) memcpy(&x, p, 2);
  return x;
}
V_INLINE vi v_load8(vm m, const void* p) { return m ? *(const uint8_t*)p : 0; }
V_INLINE void v_store32(vm m, void* p, vi x) {
  if (m) memcpy(p, &x, 4);
}
V_INLINE void v_store16(vm m, void* p, vi x) {
  const uint16_t low = (uint16_t)x;
  if (m) memcpy(p, &low, 2);
}
V_INLINE void v_store8(vm m, void* p, vi x) {
  if (m) *(uint8_t*)p = (uint8_t)x;
}

V_INLINE vi v_bits(vf x) {
  vi bits;
  memcpy(&bits, &x, 4);
  return bits;
}
V_INLINE vf v_float(vi bits) {
  vf x;
  memcpy(&x, &bits, 4);
  return x;
}
V_INLINE vf v_load(vm m, const void* p) { return v_float(v_load32(m, p)); }
V_INLINE void v_store(vm m, void* p, vf x) { v_store32(m, p, v_bits(x)); }
V_INLINE vf v_splat(float x) { return x; }
V_INLINE vi v_isplat(uint32_t x) { return x; }

V_INLINE vf v_add(vf a, vf b) { return a + b; }
V_INLINE vf v_sub(vf a, vf b) { return a - b; }
V_INLINE vf v_mul(vf a, vf b) { return a * b; }
V_INLINE vf v_div(vf a, vf b) { return a / b; }
V_INLINE vf v_sqrt(vf a) { return __builtin_sqrtf(a); }

V_INLINE vi v_iadd(vi a, vi b) { return a + b; }
V_INLINE vi v_isub(vi a, vi b) { return a - b; }
V_INLINE vi v_and(vi a, vi b) { return a & b; }
V_INLINE vi v_or(vi a, vi b) { return a | b; }
V_INLINE vi v_xor(vi a, vi b) { return a ^ b; }
V_INLINE vi v_shl(vi a, int bits) { return a << bits; }
V_INLINE vi v_shr(vi a, int bits) { return a >> bits; }

V_INLINE vm v_lt(vf a, vf b) { return a < b; }
V_INLINE vm v_le(vf a, vf b) { return a <= b; }
V_INLINE vm v_eq(vf a, vf b) { return a == b; }
V_INLINE vm v_ilt(vi a, vi b) { return (int32_t)a < (int32_t)b; }
V_INLINE vm v_ieq(vi a, vi b) { return a == b; }
V_INLINE vf v_select(vm m, vf a, vf b) { return m ? a : b; }
V_INLINE vi v_iselect(vm m, vi a, vi b) { return m ? a : b; }

V_INLINE vf v_from_i32(vi x) { return (float)(int32_t)x; }
V_INLINE vi v_to_i32(vf x) { return (vi)(int32_t)x; }

V_INLINE vf v_from_f16(vi h) {
  const vi sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31, fraction = h & 0x3ffu;
  if (exponent == 31) return v_float(sign | 0x7f800000u | fraction << 13 | (fraction ? 0x00400000u : 0));
  if (exponent) return v_float(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = (float)fraction * 0x1p-24f; /* subnormal or zero: exact */
  return v_float(sign | v_bits(magnitude));
}
V_INLINE vi v_to_f16(vf x) {
  const vi bits = v_bits(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return sign | 0x7e00u | (magnitude >> 13 & 0x3ffu);
  if (magnitude >= 0x477ff000u) return sign | 0x7c00u; /* 65520 and more round to infinity */
  if (magnitude < 0x38800000u) { /* below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits */
    return sign | (v_bits(v_float(magnitude) + 0.5f) - 0x3f000000u);
  }
  return sign | ((magnitude - 0x38000000u + 0x0fffu + (magnitude >> 13 & 1)) >> 13);
}

#endif /* PORTABLE_OPS_ISA_SCALAR_VECTOR_H_ */
