/* Operations on rows: `n` consecutive f32 values. Every kernel loads rows out of its buffers, whatever their dtype and
 * stride, computes on them in f32, and stores the result rounded to the buffer's dtype. Output and inputs may be the
 * same row. */
#ifndef PORTABLE_OPS_KERNELS_ROWS_H_
#define PORTABLE_OPS_KERNELS_ROWS_H_

#include <stddef.h>

#include "launch.h"

/* Elements [offset, offset + n * step) of a buffer as f32: f32, bf16, f16, i8, u8 or i32. */
void row_load(float* row, const pyptox_buffer* buffer, uint64_t offset, uint64_t step, size_t n);
/* The reverse; integers are truncated and saturated. */
void row_store(const float* row, const pyptox_buffer* buffer, uint64_t offset, uint64_t step, size_t n);
bool row_dtype(uint32_t dtype);

void row_fill(float* out, float value, size_t n);
void row_clear(float* out, size_t n);
void row_copy(float* out, const float* a, size_t n);
void row_add(float* out, const float* a, const float* b, size_t n);
void row_sub(float* out, const float* a, const float* b, size_t n);
void row_mul(float* out, const float* a, const float* b, size_t n);
void row_div(float* out, const float* a, const float* b, size_t n);
void row_max(float* out, const float* a, const float* b, size_t n);
void row_exp(float* out, const float* a, size_t n);
void row_sigmoid(float* out, const float* a, size_t n);
void row_silu(float* out, const float* a, size_t n);
/* out = out + a * b, two roundings. */
void row_accumulate(float* out, const float* a, float b, size_t n);
void row_scale(float* out, const float* a, float b, size_t n);

/* The reductions of the contract: 16 partial results, folded in halves. A long row is given in pieces, every one but
 * the last a multiple of 16. */
enum { kPartials = 16 };
typedef void (*row_operation)(float* out, const float* a, const float* b, size_t n);
/* Fills with the identity of row_add or row_max. */
void row_identity(float* out, row_operation operation, size_t n);
void partials_take(float partials[kPartials], row_operation operation, const float* row, size_t n);
float partials_fold(float partials[kPartials], row_operation operation);

float row_sum(const float* a, size_t n);
float row_sum_of_squares(const float* a, size_t n);
float row_greatest(const float* a, size_t n);

/* out = (a * (1 / sqrt(sum of squares / n + epsilon))) * weight. */
void row_rms_norm(float* out, const float* a, const float* weight, float epsilon, size_t n);

/* out[j] = sum over k of a[k] * b[k][j], k rising from 0. `b` is dense [depth, n] at `offset`, f32 or bf16. */
void row_times_matrix(float* out, const float* a, size_t depth, const pyptox_buffer* b, uint64_t offset, size_t n);

#endif /* PORTABLE_OPS_KERNELS_ROWS_H_ */
