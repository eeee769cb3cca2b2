/* po_decoder_chain: a small decoder of 24 layers as one kernel with 371 inputs and 51 outputs.
 *
 * Inputs, in order: tokens, positions, prefix; 8 global weights; 24 times 13 layer weights; 24 times (convolution
 * state, delta state). Outputs: logits, hidden, next token; then the new states in the order of the old ones.
 * reference/decoder_chain.py lists names, dtypes and shapes and writes the case.
 */
#include <string.h>

#include "launch.h"
#include "rows.h"
#include "sequence.h"

enum {
  kTokens = 5,
  kWidth = 8,
  kKeys = 4,
  kValues = 8,
  kChannels = 2 * kKeys + kValues,
  kTaps = 3,
  kInner = 12,
  kVocabulary = 92,
  kPositions = 16,
  kPairs = 1,
  kLayers = 24,
};

/* Positions in the list of buffers. */
enum { kTokenIds, kPositionIds, kPrefix, kEmbedding, kEmbeddingNorm, kEntry, kCosine, kSine, kFinalNorm, kHead, kBias };
enum { kLayerWeights = 11 };
enum {
  kNorm,
  kProjection,
  kConv,
  kBeta,
  kDecay,
  kDecayBias,
  kGate,
  kOutNorm,
  kOut,
  kInnerNorm,
  kInnerGate,
  kInnerUp,
  kInnerDown,
  kWeightsPerLayer
};
enum {
  kStates = kLayerWeights + kLayers * kWeightsPerLayer,
  kLogits = kStates + 2 * kLayers,
  kHidden,
  kNext,
  kNewStates,
  kBuffers = kNewStates + 2 * kLayers,
  kInputs = kLogits
};

typedef struct extent {
  uint32_t dtype;
  uint32_t rank;
  uint64_t shape[2];
} extent;

static const extent kHeadExtents[] = {
    {PYPTOX_I32, 1, {kTokens}},
    {PYPTOX_I32, 1, {kTokens}},
    {PYPTOX_F32, 2, {kTokens, kWidth}},
    {PYPTOX_F32, 2, {kVocabulary, kWidth}},
    {PYPTOX_F32, 1, {kWidth}},
    {PYPTOX_BF16, 2, {kWidth, kWidth}},
    {PYPTOX_F32, 2, {kPositions, kPairs}},
    {PYPTOX_F32, 2, {kPositions, kPairs}},
    {PYPTOX_F32, 1, {kWidth}},
    {PYPTOX_F32, 2, {kWidth, kVocabulary}},
    {PYPTOX_F32, 1, {kVocabulary}},
};
static const extent kLayerExtents[kWeightsPerLayer] = {
    {PYPTOX_BF16, 1, {kWidth}},          {PYPTOX_BF16, 2, {kWidth, kChannels}}, {PYPTOX_BF16, 2, {kTaps, kChannels}},
    {PYPTOX_BF16, 2, {kWidth, 1}},       {PYPTOX_BF16, 2, {kWidth, 1}},         {PYPTOX_BF16, 1, {1}},
    {PYPTOX_BF16, 2, {kWidth, kValues}}, {PYPTOX_BF16, 1, {kValues}},           {PYPTOX_BF16, 2, {kValues, kWidth}},
    {PYPTOX_BF16, 1, {kWidth}},          {PYPTOX_BF16, 2, {kWidth, kInner}},    {PYPTOX_BF16, 2, {kWidth, kInner}},
    {PYPTOX_BF16, 2, {kInner, kWidth}},
};
static const extent kStateExtents[] = {
    {PYPTOX_F32, 2, {kTaps - 1, kChannels}},
    {PYPTOX_F32, 2, {kKeys, kValues}},
};
static const extent kResultExtents[] = {
    {PYPTOX_F32, 2, {kTokens, kVocabulary}},
    {PYPTOX_BF16, 2, {kTokens, kWidth}},
    {PYPTOX_I32, 1, {kTokens}},
};

static const extent* extent_of(uint32_t index) {
  if (index < kLayerWeights) return &kHeadExtents[index];
  if (index < kStates) return &kLayerExtents[(index - kLayerWeights) % kWeightsPerLayer];
  if (index < kLogits) return &kStateExtents[(index - kStates) % 2];
  if (index < kNewStates) return &kResultExtents[index - kLogits];
  return &kStateExtents[(index - kNewStates) % 2];
}

static int32_t index_at(const pyptox_buffer* buffer, uint32_t i) {
  int32_t index;
  memcpy(&index, element_at(buffer, i), sizeof index);
  return index;
}

static int32_t refusal(const pyptox_launch* launch) {
  if (!launch_has(launch, kInputs, 0, kBuffers - kInputs, 1)) return PYPTOX_REFUSED_ARGUMENT;
  for (uint32_t b = 0; b < kBuffers; b++) {
    const extent* want = extent_of(b);
    if (!is_array(&launch->buffers[b], want->dtype, want->rank)) return PYPTOX_REFUSED_ARGUMENT;
    for (uint32_t axis = 0; axis < want->rank; axis++) {
      if (launch->buffers[b].shape[axis] != want->shape[axis]) return PYPTOX_REFUSED_ARGUMENT;
    }
  }
  for (uint32_t t = 0; t < kTokens; t++) {
    const int32_t token = index_at(&launch->buffers[kTokenIds], t), at = index_at(&launch->buffers[kPositionIds], t);
    if (token < 0 || token >= kVocabulary || at < 0 || at >= kPositions) return PYPTOX_REFUSED_INDEX;
  }
  return PYPTOX_DONE;
}

/* What is carried from token to token. */
typedef struct memory {
  float conv[kLayers][(kTaps - 1) * kChannels];
  float delta[kLayers][kKeys * kValues];
} memory;

/* out = rms_norm(x) * weight for a row of kWidth (= kValues) values. */
static void normalize(float* out, const float* x, const pyptox_buffer* weight, float epsilon) {
  float scale[kWidth];
  row_load(scale, weight, 0, 1, kWidth);
  row_rms_norm(out, x, scale, epsilon, kWidth);
}

/* Unit length: x * (1 / sqrt(sum of squares + epsilon)). */
static void to_unit(float* x, float epsilon) {
  row_scale(x, x, 1.0f / __builtin_sqrtf(row_sum_of_squares(x, kKeys) + epsilon), kKeys);
}

/* The mixing half of a layer: x = x + out_projection(norm(gated_delta(...)) * silu(gate)). */
static void mix(float* x, const pyptox_buffer* w, float* conv, float* delta, const float* cosine, const float* sine,
                float epsilon) {
  float h[kWidth], u[kChannels], taps[kTaps * kChannels], o[kValues], gate[kValues], beta[1], decay[1], bias[1];
  normalize(h, x, &w[kNorm], epsilon);
  row_times_matrix(u, h, kWidth, &w[kProjection], 0, kChannels);
  row_load(taps, &w[kConv], 0, 1, kTaps * kChannels);
  conv1d_row(u, u, taps, conv, kTaps, kChannels);
  row_silu(u, u, kChannels);
  float *q = u, *k = u + kKeys, *v = u + 2 * kKeys;
  to_unit(q, epsilon);
  to_unit(k, epsilon);
  rope_row(q, cosine, sine, kPairs);
  rope_row(k, cosine, sine, kPairs);
  row_times_matrix(beta, h, kWidth, &w[kBeta], 0, 1);
  row_sigmoid(beta, beta, 1);
  row_times_matrix(decay, h, kWidth, &w[kDecay], 0, 1);
  row_load(bias, &w[kDecayBias], 0, 1, 1);
  row_add(decay, decay, bias, 1);
  row_sigmoid(decay, decay, 1);
  row_scale(decay, decay, -1.0f, 1);
  row_exp(decay, decay, 1);
  gated_delta_row(o, q, k, v, decay[0], beta[0], delta, kKeys, kValues);
  row_times_matrix(gate, h, kWidth, &w[kGate], 0, kValues);
  row_silu(gate, gate, kValues);
  normalize(o, o, &w[kOutNorm], epsilon);
  row_mul(o, o, gate, kValues);
  row_times_matrix(h, o, kValues, &w[kOut], 0, kWidth);
  row_add(x, x, h, kWidth);
}

/* The inner half: x = x + down(silu(gate) * up). */
static void feed(float* x, const pyptox_buffer* w, float epsilon) {
  float h[kWidth], gate[kInner], up[kInner];
  normalize(h, x, &w[kInnerNorm], epsilon);
  row_times_matrix(gate, h, kWidth, &w[kInnerGate], 0, kInner);
  row_times_matrix(up, h, kWidth, &w[kInnerUp], 0, kInner);
  row_silu(gate, gate, kInner);
  row_mul(gate, gate, up, kInner);
  row_times_matrix(h, gate, kInner, &w[kInnerDown], 0, kWidth);
  row_add(x, x, h, kWidth);
}

/* One token through all layers; writes row `t` of the results. */
static void decode(const pyptox_buffer* b, uint32_t t, memory* carried, float epsilon) {
  float x[kWidth], prefix[kWidth], cosine[kPairs], sine[kPairs], logits[kVocabulary], bias[kVocabulary];
  const uint64_t at = (uint64_t)index_at(&b[kPositionIds], t);
  row_load(x, &b[kEmbedding], (uint64_t)index_at(&b[kTokenIds], t) * kWidth, 1, kWidth);
  row_load(prefix, &b[kPrefix], t * kWidth, 1, kWidth);
  row_load(cosine, &b[kCosine], at * kPairs, 1, kPairs);
  row_load(sine, &b[kSine], at * kPairs, 1, kPairs);
  row_add(x, x, prefix, kWidth);
  normalize(prefix, x, &b[kEmbeddingNorm], epsilon);
  row_times_matrix(x, prefix, kWidth, &b[kEntry], 0, kWidth);
  for (uint32_t layer = 0; layer < kLayers; layer++) {
    const pyptox_buffer* w = &b[kLayerWeights + layer * kWeightsPerLayer];
    mix(x, w, carried->conv[layer], carried->delta[layer], cosine, sine, epsilon);
    feed(x, w, epsilon);
  }
  normalize(x, x, &b[kFinalNorm], epsilon);
  row_store(x, &b[kHidden], t * kWidth, 1, kWidth);
  row_times_matrix(logits, x, kWidth, &b[kHead], 0, kVocabulary);
  row_load(bias, &b[kBias], 0, 1, kVocabulary);
  row_add(logits, logits, bias, kVocabulary);
  row_store(logits, &b[kLogits], t * kVocabulary, 1, kVocabulary);
  int32_t next = 0;
  for (int32_t i = 1; i < kVocabulary; i++) {
    if (logits[i] > logits[next]) next = i;
  }
  memcpy(element_at(&b[kNext], t), &next, sizeof next);
}

/* Parameter: epsilon of all norms. */
PORTABLE_OPS_KERNEL po_decoder_chain(const pyptox_launch* launch) {
  const int32_t refused = refusal(launch);
  float epsilon;
  if (refused != PYPTOX_DONE) return refused;
  if (!launch_real(launch, 0, &epsilon)) return PYPTOX_REFUSED_ARGUMENT;
  const pyptox_buffer* b = launch->buffers;
  memory carried;
  for (uint32_t layer = 0; layer < kLayers; layer++) {
    row_load(carried.conv[layer], &b[kStates + 2 * layer], 0, 1, (kTaps - 1) * kChannels);
    row_load(carried.delta[layer], &b[kStates + 2 * layer + 1], 0, 1, kKeys * kValues);
  }
  for (uint32_t t = 0; t < kTokens; t++) decode(b, t, &carried, epsilon);
  for (uint32_t layer = 0; layer < kLayers; layer++) {
    row_store(carried.conv[layer], &b[kNewStates + 2 * layer], 0, 1, (kTaps - 1) * kChannels);
    row_store(carried.delta[layer], &b[kNewStates + 2 * layer + 1], 0, 1, kKeys * kValues);
  }
  return PYPTOX_DONE;
}
