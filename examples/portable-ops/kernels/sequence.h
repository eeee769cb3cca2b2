/* One step in time of the sequence operations, on rows of f32. Kernels and the decoder chain share them. */
#ifndef PORTABLE_OPS_KERNELS_SEQUENCE_H_
#define PORTABLE_OPS_KERNELS_SEQUENCE_H_

#include <stddef.h>

/* Longest kernel of the convolution. */
enum { kTapsMax = 8 };

/* Turns the first 2 * pairs values of a row: value i and value i + pairs form a pair; the rest stays. */
void rope_row(float* row, const float* cosine, const float* sine, size_t pairs);

/* Causal depthwise convolution: `state` holds the `taps` - 1 rows before x, oldest first, and then moves on by one.
 * `weight` is [taps, channels]; its last row meets x. */
void conv1d_row(float* out, const float* x, const float* weight, float* state, size_t taps, size_t channels);

/* Gated delta rule on one head: `state` is [keys, values]. With `decay` in (0, 1]:
 *   state = state * decay; d = (v - k state) * beta; state = state + k (x) d; out = q state. */
void gated_delta_row(float* out, const float* q, const float* k, const float* v, float decay, float beta, float* state,
                     size_t keys, size_t values);

#endif /* PORTABLE_OPS_KERNELS_SEQUENCE_H_ */
