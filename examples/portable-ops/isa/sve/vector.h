/* The vector interface of the kernels (isa/scalar/vector.h says what each function means) on SVE: as many lanes as the
 * machine has. Operations run under an all-true predicate; only loads, stores and selections look at the mask. */
#ifndef PORTABLE_OPS_ISA_SVE_VECTOR_H_
#define PORTABLE_OPS_ISA_SVE_VECTOR_H_

#include <arm_sve.h>
#include <stddef.h>
#include <stdint.h>

#define V_INLINE static inline __attribute__((always_inline, unused))

typedef svfloat32_t vf;
typedef svuint32_t vi;
typedef svbool_t vm;

V_INLINE size_t v_lanes(void) { return svcntw(); }
V_INLINE vm v_first(size_t i, size_t n) { return svwhilelt_b32_u64(i, n); }
V_INLINE vm v_all(void) { return svptrue_b32(); }

V_INLINE vi v_load32(vm m, const void* p) { return svld1_u32(m, (const uint32_t*)p); }
V_INLINE vi v_load16(vm m, const void* p) { return svld1uh_u32(m, (const uint16_t*)p); }
V_INLINE vi v_load8(vm m, const void* p) { return svld1ub_u32(m, (const uint8_t*)p); }
V_INLINE void v_store32(vm m, void* p, vi x) { svst1_u32(m, (uint32_t*)p, x); }
V_INLINE void v_store16(vm m, void* p, vi x) { svst1h_u32(m, (uint16_t*)p, x); }
V_INLINE void v_store8(vm m, void* p, vi x) { svst1b_u32(m, (uint8_t*)p, x); }

V_INLINE vi v_bits(vf x) { return svreinterpret_u32_f32(x); }
V_INLINE vf v_float(vi bits) { return svreinterpret_f32_u32(bits); }
V_INLINE vf v_load(vm m, const void* p) { return svld1_f32(m, (const float*)p); }
V_INLINE void v_store(vm m, void* p, vf x) { svst1_f32(m, (float*)p, x); }
/* The compiler builds some constants with an Advanced SIMD `movi`; behind the empty asm it sees no constant. */
V_INLINE vi v_isplat(uint32_t x) {
  if (__builtin_constant_p(x)) __asm__("" : "+r"(x));
  return svdup_n_u32(x);
}
V_INLINE vf v_splat(float x) {
  if (!__builtin_constant_p(x)) return svdup_n_f32(x);
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return v_float(v_isplat(bits));
}

V_INLINE vf v_add(vf a, vf b) { return svadd_f32_x(v_all(), a, b); }
V_INLINE vf v_sub(vf a, vf b) { return svsub_f32_x(v_all(), a, b); }
V_INLINE vf v_mul(vf a, vf b) { return svmul_f32_x(v_all(), a, b); }
V_INLINE vf v_div(vf a, vf b) { return svdiv_f32_x(v_all(), a, b); }
V_INLINE vf v_sqrt(vf a) { return svsqrt_f32_x(v_all(), a); }

V_INLINE vi v_iadd(vi a, vi b) { return svadd_u32_x(v_all(), a, b); }
V_INLINE vi v_isub(vi a, vi b) { return svsub_u32_x(v_all(), a, b); }
V_INLINE vi v_and(vi a, vi b) { return svand_u32_x(v_all(), a, b); }
V_INLINE vi v_or(vi a, vi b) { return svorr_u32_x(v_all(), a, b); }
V_INLINE vi v_xor(vi a, vi b) { return sveor_u32_x(v_all(), a, b); }
V_INLINE vi v_shl(vi a, int bits) { return svlsl_n_u32_x(v_all(), a, (uint32_t)bits); }
V_INLINE vi v_shr(vi a, int bits) { return svlsr_n_u32_x(v_all(), a, (uint32_t)bits); }

V_INLINE vm v_lt(vf a, vf b) { return svcmplt_f32(v_all(), a, b); }
V_INLINE vm v_le(vf a, vf b) { return svcmple_f32(v_all(), a, b); }
V_INLINE vm v_eq(vf a, vf b) { return svcmpeq_f32(v_all(), a, b); }
V_INLINE vm v_ilt(vi a, vi b) { return svcmplt_s32(v_all(), svreinterpret_s32_u32(a), svreinterpret_s32_u32(b)); }
V_INLINE vm v_ieq(vi a, vi b) { return svcmpeq_u32(v_all(), a, b); }
V_INLINE vf v_select(vm m, vf a, vf b) { return svsel_f32(m, a, b); }
V_INLINE vi v_iselect(vm m, vi a, vi b) { return svsel_u32(m, a, b); }

V_INLINE vf v_from_i32(vi x) { return svcvt_f32_s32_x(v_all(), svreinterpret_s32_u32(x)); }
V_INLINE vi v_to_i32(vf x) { return svreinterpret_u32_s32(svcvt_s32_f32_x(v_all(), x)); }
V_INLINE vf v_from_f16(vi h) { return svcvt_f32_f16_x(v_all(), svreinterpret_f16_u32(h)); }
V_INLINE vi v_to_f16(vf x) { return v_and(svreinterpret_u32_f16(svcvt_f16_f32_x(v_all(), x)), v_isplat(0xffff)); }

#endif /* PORTABLE_OPS_ISA_SVE_VECTOR_H_ */
