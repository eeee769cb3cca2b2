/* The vector interface of the kernels (isa/scalar/vector.h says what each function means) on AVX-512 F, BW and VL: 16
 * lanes. */
#ifndef PORTABLE_OPS_ISA_AVX512_VECTOR_H_
#define PORTABLE_OPS_ISA_AVX512_VECTOR_H_

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define V_INLINE static inline __attribute__((always_inline, unused))

typedef __m512 vf;
typedef __m512i vi;
typedef __mmask16 vm;

V_INLINE size_t v_lanes(void) { return 16; }
V_INLINE vm v_first(size_t i, size_t n) {
  const size_t left = i < n ? n - i : 0;
  return (vm)(left < 16 ? (1u << left) - 1 : 0xffff);
}

V_INLINE vi v_load32(vm m, const void* p) { return _mm512_maskz_loadu_epi32(m, p); }
V_INLINE vi v_load16(vm m, const void* p) { return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(m, p)); }
V_INLINE vi v_load8(vm m, const void* p) { return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(m, p)); }
V_INLINE void v_store32(vm m, void* p, vi x) { _mm512_mask_storeu_epi32(p, m, x); }
V_INLINE void v_store16(vm m, void* p, vi x) { _mm512_mask_cvtepi32_storeu_epi16(p, m, x); }
V_INLINE void v_store8(vm m, void* p, vi x) { _mm512_mask_cvtepi32_storeu_epi8(p, m, x); }

V_INLINE vi v_bits(vf x) { return _mm512_castps_si512(x); }
V_INLINE vf v_float(vi bits) { return _mm512_castsi512_ps(bits); }
V_INLINE vf v_load(vm m, const void* p) { return _mm512_maskz_loadu_ps(m, p); }
V_INLINE void v_store(vm m, void* p, vf x) { _mm512_mask_storeu_ps(p, m, x); }
V_INLINE vf v_splat(float x) { return _mm512_set1_ps(x); }
V_INLINE vi v_isplat(uint32_t x) { return _mm512_set1_epi32((int)x); }

V_INLINE vf v_add(vf a, vf b) { return _mm512_add_ps(a, b); }
V_INLINE vf v_sub(vf a, vf b) { return _mm512_sub_ps(a, b); }
V_INLINE vf v_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
V_INLINE vf v_div(vf a, vf b) { return _mm512_div_ps(a, b); }
V_INLINE vf v_sqrt(vf a) { return _mm512_sqrt_ps(a); }

V_INLINE vi v_iadd(vi a, vi b) { return _mm512_add_epi32(a, b); }
V_INLINE vi v_isub(vi a, vi b) { return _mm512_sub_epi32(a, b); }
V_INLINE vi v_and(vi a, vi b) { return _mm512_and_si512(a, b); }
V_INLINE vi v_or(vi a, vi b) { return _mm512_or_si512(a, b); }
V_INLINE vi v_xor(vi a, vi b) { return _mm512_xor_si512(a, b); }
V_INLINE vi v_shl(vi a, int bits) { return _mm512_slli_epi32(a, (unsigned)bits); }
V_INLINE vi v_shr(vi a, int bits) { return _mm512_srli_epi32(a, (unsigned)bits); }

V_INLINE vm v_lt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
V_INLINE vm v_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
V_INLINE vm v_eq(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
V_INLINE vm v_ilt(vi a, vi b) { return _mm512_cmplt_epi32_mask(a, b); }
V_INLINE vm v_ieq(vi a, vi b) { return _mm512_cmpeq_epi32_mask(a, b); }
V_INLINE vf v_select(vm m, vf a, vf b) { return _mm512_mask_blend_ps(m, b, a); }
V_INLINE vi v_iselect(vm m, vi a, vi b) { return _mm512_mask_blend_epi32(m, b, a); }

V_INLINE vf v_from_i32(vi x) { return _mm512_cvtepi32_ps(x); }
V_INLINE vi v_to_i32(vf x) { return _mm512_cvttps_epi32(x); }
V_INLINE vf v_from_f16(vi h) { return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(h)); }
V_INLINE vi v_to_f16(vf x) { return _mm512_cvtepu16_epi32(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)); }

#endif /* PORTABLE_OPS_ISA_AVX512_VECTOR_H_ */
