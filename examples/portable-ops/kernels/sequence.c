/* po_rope, po_conv1d and po_gated_delta: operations along a sequence, two of them with a carried state. */
#include "sequence.h"

#include "launch.h"
#include "rows.h"

void rope_row(float* row, const float* cosine, const float* sine, size_t pairs) {
  float left[kRowMax], right[kRowMax], product[kRowMax];
  float* const second = row + pairs;
  row_mul(left, row, cosine, pairs);
  row_mul(product, second, sine, pairs);
  row_sub(left, left, product, pairs);
  row_mul(right, second, cosine, pairs);
  row_mul(product, row, sine, pairs);
  row_add(right, right, product, pairs);
  row_copy(row, left, pairs);
  row_copy(second, right, pairs);
}

void conv1d_row(float* out, const float* x, const float* weight, float* state, size_t taps, size_t channels) {
  float product[kRowMax], sum[kRowMax];
  row_clear(sum, channels);
  for (size_t t = 0; t < taps; t++) {
    row_mul(product, t + 1 < taps ? state + t * channels : x, weight + t * channels, channels);
    row_add(sum, sum, product, channels);
  }
  for (size_t t = 0; t + 1 < taps; t++) {
    row_copy(state + t * channels, t + 2 < taps ? state + (t + 1) * channels : x, channels);
  }
  row_copy(out, sum, channels);
}

void gated_delta_row(float* out, const float* q, const float* k, const float* v, float decay, float beta, float* state,
                     size_t keys, size_t values) {
  float delta[kRowMax];
  row_scale(state, state, decay, keys * values);
  row_clear(delta, values);
  for (size_t i = 0; i < keys; i++) row_accumulate(delta, state + i * values, k[i], values);
  row_sub(delta, v, delta, values);
  row_scale(delta, delta, beta, values);
  for (size_t i = 0; i < keys; i++) row_accumulate(state + i * values, delta, k[i], values);
  row_clear(out, values);
  for (size_t i = 0; i < keys; i++) row_accumulate(out, state + i * values, q[i], values);
}

/* Inputs: x [tokens, heads, width], cosine and sine [tokens, pairs] in f32. The first 2 * pairs columns are turned. */
PORTABLE_OPS_KERNEL po_rope(const pyptox_launch* launch) {
  if (!launch_has(launch, 3, 0, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *x = &launch->buffers[0], *cosine = &launch->buffers[1], *sine = &launch->buffers[2];
  const pyptox_buffer* out = &launch->buffers[3];
  if (!dtype_is_real(out->dtype) || !is_array(out, out->dtype, 3) || !is_array(x, out->dtype, 3) ||
      !same_shape(x, out) || !is_array(cosine, PYPTOX_F32, 2) || !is_array(sine, PYPTOX_F32, 2) ||
      !same_shape(cosine, sine)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  const uint64_t tokens = out->shape[0], heads = out->shape[1];
  const size_t width = out->shape[2], pairs = cosine->shape[1];
  if (cosine->shape[0] != tokens || width > kRowMax || pairs > width / 2) return PYPTOX_REFUSED_ARGUMENT;
  float row[kRowMax], c[kRowMax], s[kRowMax];
  for (uint64_t t = 0; t < tokens; t++) {
    row_load(c, cosine, t * pairs, 1, pairs);
    row_load(s, sine, t * pairs, 1, pairs);
    for (uint64_t h = 0; h < heads; h++) {
      const uint64_t offset = (t * heads + h) * width;
      row_load(row, x, offset, 1, width);
      rope_row(row, c, s, pairs);
      row_store(row, out, offset, 1, width);
    }
  }
  return PYPTOX_DONE;
}

/* Inputs: x [tokens, channels], weight [taps, channels]. Carried: state [taps - 1, channels]. Output as x. */
PORTABLE_OPS_KERNEL po_conv1d(const pyptox_launch* launch) {
  if (!launch_has(launch, 2, 1, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *x = &launch->buffers[0], *weight = &launch->buffers[1];
  const pyptox_buffer *state = &launch->buffers[2], *out = &launch->buffers[3];
  const uint32_t dtype = out->dtype;
  if (!dtype_is_real(dtype) || !is_array(x, dtype, 2) || !is_array(weight, dtype, 2) || !is_array(state, dtype, 2) ||
      !is_array(out, dtype, 2) || !same_shape(x, out)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  const uint64_t tokens = out->shape[0];
  const size_t channels = out->shape[1], taps = weight->shape[0];
  if (weight->shape[1] != channels || state->shape[1] != channels || taps < 1 || taps > kTapsMax ||
      state->shape[0] != taps - 1 || channels > kRowMax) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  float w[kTapsMax * kRowMax], carried[(kTapsMax - 1) * kRowMax], row[kRowMax];
  row_load(w, weight, 0, 1, taps * channels);
  row_load(carried, state, 0, 1, (taps - 1) * channels);
  for (uint64_t t = 0; t < tokens; t++) {
    row_load(row, x, t * channels, 1, channels);
    conv1d_row(row, row, w, carried, taps, channels);
    row_store(row, out, t * channels, 1, channels);
  }
  row_store(carried, state, 0, 1, (taps - 1) * channels);
  return PYPTOX_DONE;
}

/* Inputs: q and k [tokens, heads, keys], v [tokens, heads, values], gate and beta [tokens, heads]; the decay is
 * exp(gate). Carried: state [heads, keys, values]. Output as v. All f32. */
PORTABLE_OPS_KERNEL po_gated_delta(const pyptox_launch* launch) {
  if (!launch_has(launch, 5, 1, 1, 0)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer *q = &launch->buffers[0], *k = &launch->buffers[1], *v = &launch->buffers[2];
  const pyptox_buffer *gate = &launch->buffers[3], *beta = &launch->buffers[4];
  const pyptox_buffer *state = &launch->buffers[5], *out = &launch->buffers[6];
  if (!is_array(q, PYPTOX_F32, 3) || !is_array(k, PYPTOX_F32, 3) || !is_array(v, PYPTOX_F32, 3) ||
      !is_array(gate, PYPTOX_F32, 2) || !is_array(beta, PYPTOX_F32, 2) || !is_array(state, PYPTOX_F32, 3) ||
      !is_array(out, PYPTOX_F32, 3) || !same_shape(q, k) || !same_shape(v, out) || !same_shape(gate, beta)) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  const uint64_t tokens = v->shape[0], heads = v->shape[1];
  const size_t keys = q->shape[2], values = v->shape[2], cells = keys * values;
  if (q->shape[0] != tokens || q->shape[1] != heads || gate->shape[0] != tokens || gate->shape[1] != heads ||
      state->shape[0] != heads || state->shape[1] != keys || state->shape[2] != values || keys > 32 || values > 32) {
    return PYPTOX_REFUSED_ARGUMENT;
  }
  float carried[kRowMax], queries[32], key[32], value[32], result[32], decay[1], rate[1];
  for (uint64_t h = 0; h < heads; h++) {
    row_load(carried, state, h * cells, 1, cells);
    for (uint64_t t = 0; t < tokens; t++) {
      const uint64_t head = t * heads + h;
      row_load(queries, q, head * keys, 1, keys);
      row_load(key, k, head * keys, 1, keys);
      row_load(value, v, head * values, 1, values);
      row_load(decay, gate, head, 1, 1);
      row_load(rate, beta, head, 1, 1);
      row_exp(decay, decay, 1);
      gated_delta_row(result, queries, key, value, decay[0], rate[0], carried, keys, values);
      row_store(result, out, head * values, 1, values);
    }
    row_store(carried, state, h * cells, 1, cells);
  }
  return PYPTOX_DONE;
}
