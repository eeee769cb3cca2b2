/* The vector interface of the kernels (isa/scalar/vector.h says what each function means) on AVX2 and F16C: 8 lanes. */
#ifndef PORTABLE_OPS_ISA_AVX2_VECTOR_H_
#define PORTABLE_OPS_ISA_AVX2_VECTOR_H_

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define V_INLINE static inline __attribute__((always_inline, unused))

typedef __m256 vf;
typedef __m256i vi;
typedef __m256i vm; /* all bits of a lane set, or none */

V_INLINE size_t v_lanes(void) { return 8; }
V_INLINE vm v_first(size_t i, size_t n) {
  const size_t left = i < n ? n - i : 0;
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(left < 8 ? (int)left : 8), lane);
}
V_INLINE unsigned v_mask_bits(vm m) { return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(m)); }

V_INLINE vi v_load32(vm m, const void* p) { return _mm256_maskload_epi32((const int*)p, m); }
V_INLINE void v_store32(vm m, void* p, vi x) { _mm256_maskstore_epi32((int*)p, m, x); }

/* AVX2 has no masked move of narrow elements: the tail goes through a small array. */
V_INLINE vi v_load16(vm m, const void* p) {
  const unsigned bits = v_mask_bits(m);
  if (bits == 0xff) return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p));
  uint16_t part[8] = {0};
  memcpy(part, p, 2 * (size_t)__builtin_popcount(bits));
  return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)part));
}
V_INLINE vi v_load8(vm m, const void* p) {
  uint8_t part[8] = {0};
  memcpy(part, p, (size_t)__builtin_popcount(v_mask_bits(m)));
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i*)part));
}
V_INLINE __m128i v_narrow16(vi x) {
  const __m256i low = _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
  return _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
}
V_INLINE void v_store16(vm m, void* p, vi x) {
  const unsigned bits = v_mask_bits(m);
  if (bits == 0xff) {
    _mm_storeu_si128((__m128i*)p, v_narrow16(x));
    return;
  }
  uint16_t part[8];
  _mm_storeu_si128((__m128i*)part, v_narrow16(x));
  memcpy(p, part, 2 * (size_t)__builtin_popcount(bits));
}
V_INLINE void v_store8(vm m, void* p, vi x) {
  const __m128i words = v_narrow16(_mm256_and_si256(x, _mm256_set1_epi32(0xff)));
  uint8_t part[8];
  _mm_storel_epi64((__m128i*)part, _mm_packus_epi16(words, words));
  memcpy(p, part, (size_t)__builtin_popcount(v_mask_bits(m)));
}

V_INLINE vi v_bits(vf x) { return _mm256_castps_si256(x); }
V_INLINE vf v_float(vi bits) { return _mm256_castsi256_ps(bits); }
V_INLINE vf v_load(vm m, const void* p) { return v_float(v_load32(m, p)); }
V_INLINE void v_store(vm m, void* p, vf x) { v_store32(m, p, v_bits(x)); }
V_INLINE vf v_splat(float x) { return _mm256_set1_ps(x); }
V_INLINE vi v_isplat(uint32_t x) { return _mm256_set1_epi32((int)x); }

V_INLINE vf v_add(vf a, vf b) { return _mm256_add_ps(a, b); }
V_INLINE vf v_sub(vf a, vf b) { return _mm256_sub_ps(a, b); }
V_INLINE vf v_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
V_INLINE vf v_div(vf a, vf b) { return _mm256_div_ps(a, b); }
V_INLINE vf v_sqrt(vf a) { return _mm256_sqrt_ps(a); }

V_INLINE vi v_iadd(vi a, vi b) { return _mm256_add_epi32(a, b); }
V_INLINE vi v_isub(vi a, vi b) { return _mm256_sub_epi32(a, b); }
V_INLINE vi v_and(vi a, vi b) { return _mm256_and_si256(a, b); }
V_INLINE vi v_or(vi a, vi b) { return _mm256_or_si256(a, b); }
V_INLINE vi v_xor(vi a, vi b) { return _mm256_xor_si256(a, b); }
V_INLINE vi v_shl(vi a, int bits) { return _mm256_slli_epi32(a, bits); }
V_INLINE vi v_shr(vi a, int bits) { return _mm256_srli_epi32(a, bits); }

V_INLINE vm v_lt(vf a, vf b) { return v_bits(_mm256_cmp_ps(a, b, _CMP_LT_OQ)); }
V_INLINE vm v_le(vf a, vf b) { return v_bits(_mm256_cmp_ps(a, b, _CMP_LE_OQ)); }
V_INLINE vm v_eq(vf a, vf b) { return v_bits(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
V_INLINE vm v_ilt(vi a, vi b) { return _mm256_cmpgt_epi32(b, a); }
V_INLINE vm v_ieq(vi a, vi b) { return _mm256_cmpeq_epi32(a, b); }
V_INLINE vf v_select(vm m, vf a, vf b) { return _mm256_blendv_ps(b, a, v_float(m)); }
V_INLINE vi v_iselect(vm m, vi a, vi b) { return _mm256_blendv_epi8(b, a, m); }

V_INLINE vf v_from_i32(vi x) { return _mm256_cvtepi32_ps(x); }
V_INLINE vi v_to_i32(vf x) { return _mm256_cvttps_epi32(x); }
V_INLINE vf v_from_f16(vi h) { return _mm256_cvtph_ps(v_narrow16(h)); }
V_INLINE vi v_to_f16(vf x) { return _mm256_cvtepu16_epi32(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT)); }

#endif /* PORTABLE_OPS_ISA_AVX2_VECTOR_H_ */
