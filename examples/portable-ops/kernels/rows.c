#include "rows.h"

#include "numeric.h"

enum { kPack = 64 }; /* elements gathered at once from a strided row */

static vf load_as_f32(vm m, uint32_t dtype, const void* p) {
  switch (dtype) {
    case PYPTOX_BF16:
      return v_from_bf16(v_load16(m, p));
    case PYPTOX_F16:
      return v_from_f16(v_load16(m, p));
    case PYPTOX_I8:
      return v_from_i32(v_isub(v_xor(v_load8(m, p), v_isplat(0x80)), v_isplat(0x80)));
    case PYPTOX_U8:
      return v_from_i32(v_load8(m, p));
    case PYPTOX_I32:
      return v_from_i32(v_load32(m, p));
    default:
      return v_load(m, p);
  }
}

static void store_from_f32(vm m, uint32_t dtype, void* p, vf x) {
  switch (dtype) {
    case PYPTOX_BF16:
      v_store16(m, p, v_to_bf16(x));
      break;
    case PYPTOX_F16:
      v_store16(m, p, v_to_f16(x));
      break;
    case PYPTOX_I8:
      v_store8(m, p, v_iclamp(v_to_i32_saturated(x), -128, 127));
      break;
    case PYPTOX_U8:
      v_store8(m, p, v_iclamp(v_to_i32_saturated(x), 0, 255));
      break;
    case PYPTOX_I32:
      v_store32(m, p, v_to_i32_saturated(x));
      break;
    default:
      v_store(m, p, x);
      break;
  }
}

bool row_dtype(uint32_t dtype) {
  return dtype == PYPTOX_F32 || dtype == PYPTOX_BF16 || dtype == PYPTOX_F16 || dtype == PYPTOX_I8 ||
         dtype == PYPTOX_U8 || dtype == PYPTOX_I32;
}

static void load_dense(float* row, uint32_t dtype, const char* from, size_t n) {
  const size_t size = dtype_size(dtype);
  for (size_t i = 0; i < n; i += v_lanes()) {
    const vm m = v_first(i, n);
    v_store(m, row + i, load_as_f32(m, dtype, from + i * size));
  }
}

static void store_dense(const float* row, uint32_t dtype, char* to, size_t n) {
  const size_t size = dtype_size(dtype);
  for (size_t i = 0; i < n; i += v_lanes()) {
    const vm m = v_first(i, n);
    store_from_f32(m, dtype, to + i * size, v_load(m, row + i));
  }
}

void row_load(float* row, const pyptox_buffer* buffer, uint64_t offset, uint64_t step, size_t n) {
  if (step == 1 || n == 1) {
    load_dense(row, buffer->dtype, element_at(buffer, offset), n);
    return;
  }
  const size_t size = dtype_size(buffer->dtype);
  char pack[kPack * 8];
  for (size_t done = 0; done < n; done += kPack) {
    const size_t part = n - done < kPack ? n - done : kPack;
    for (size_t i = 0; i < part; i++)
      element_copy(pack + i * size, element_at(buffer, offset + (done + i) * step), size);
    load_dense(row + done, buffer->dtype, pack, part);
  }
}

void row_store(const float* row, const pyptox_buffer* buffer, uint64_t offset, uint64_t step, size_t n) {
  if (step == 1 || n == 1) {
    store_dense(row, buffer->dtype, element_at(buffer, offset), n);
    return;
  }
  const size_t size = dtype_size(buffer->dtype);
  char pack[kPack * 8];
  for (size_t done = 0; done < n; done += kPack) {
    const size_t part = n - done < kPack ? n - done : kPack;
    store_dense(row + done, buffer->dtype, pack, part);
    for (size_t i = 0; i < part; i++)
      element_copy(element_at(buffer, offset + (done + i) * step), pack + i * size, size);
  }
}

#define ROW_BINARY(name, operation)                                       \
  void name(float* out, const float* a, const float* b, size_t n) {       \
    for (size_t i = 0; i < n; i += v_lanes()) {                           \
      const vm m = v_first(i, n);                                         \
      v_store(m, out + i, operation(v_load(m, a + i), v_load(m, b + i))); \
    }                                                                     \
  }
#define ROW_UNARY(name, operation)                      \
  void name(float* out, const float* a, size_t n) {     \
    for (size_t i = 0; i < n; i += v_lanes()) {         \
      const vm m = v_first(i, n);                       \
      v_store(m, out + i, operation(v_load(m, a + i))); \
    }                                                   \
  }

ROW_BINARY(row_add, v_add)
ROW_BINARY(row_sub, v_sub)
ROW_BINARY(row_mul, v_mul)
ROW_BINARY(row_div, v_div)
ROW_BINARY(row_max, v_max)
ROW_UNARY(row_exp, v_exp)
ROW_UNARY(row_sigmoid, v_sigmoid)
ROW_UNARY(row_silu, v_silu)

void row_fill(float* out, float value, size_t n) {
  for (size_t i = 0; i < n; i += v_lanes()) v_store(v_first(i, n), out + i, v_splat(value));
}

void row_clear(float* out, size_t n) {
  for (size_t i = 0; i < n; i += v_lanes()) v_store32(v_first(i, n), out + i, v_isplat(0));
}

void row_copy(float* out, const float* a, size_t n) {
  for (size_t i = 0; i < n; i += v_lanes()) {
    const vm m = v_first(i, n);
    v_store(m, out + i, v_load(m, a + i));
  }
}

void row_accumulate(float* out, const float* a, float b, size_t n) {
  for (size_t i = 0; i < n; i += v_lanes()) {
    const vm m = v_first(i, n);
    v_store(m, out + i, v_add(v_load(m, out + i), v_mul(v_load(m, a + i), v_splat(b))));
  }
}

void row_scale(float* out, const float* a, float b, size_t n) {
  for (size_t i = 0; i < n; i += v_lanes()) {
    const vm m = v_first(i, n);
    v_store(m, out + i, v_mul(v_load(m, a + i), v_splat(b)));
  }
}

void row_identity(float* out, row_operation operation, size_t n) {
  if (operation == row_max) {
    row_fill(out, -__builtin_inff(), n);
  } else {
    row_clear(out, n);
  }
}

void partials_take(float partials[kPartials], row_operation operation, const float* row, size_t n) {
  for (size_t i = 0; i < n; i += kPartials) {
    operation(partials, partials, row + i, n - i < kPartials ? n - i : kPartials);
  }
}

float partials_fold(float partials[kPartials], row_operation operation) {
  for (size_t half = kPartials / 2; half > 0; half /= 2) operation(partials, partials, partials + half, half);
  return partials[0];
}

static float reduce(row_operation operation, const float* row, size_t n) {
  float partials[kPartials];
  row_identity(partials, operation, kPartials);
  partials_take(partials, operation, row, n);
  return partials_fold(partials, operation);
}

float row_sum(const float* a, size_t n) { return reduce(row_add, a, n); }

float row_greatest(const float* a, size_t n) { return reduce(row_max, a, n); }

float row_sum_of_squares(const float* a, size_t n) {
  float partials[kPartials], squares[kPartials];
  row_clear(partials, kPartials);
  for (size_t i = 0; i < n; i += kPartials) {
    const size_t part = n - i < kPartials ? n - i : kPartials;
    row_mul(squares, a + i, a + i, part);
    row_add(partials, partials, squares, part);
  }
  return partials_fold(partials, row_add);
}

void row_rms_norm(float* out, const float* a, const float* weight, float epsilon, size_t n) {
  const float mean = row_sum_of_squares(a, n) / (float)n;
  const float inverse = 1.0f / __builtin_sqrtf(mean + epsilon);
  row_scale(out, a, inverse, n);
  row_mul(out, out, weight, n);
}

void row_times_matrix(float* out, const float* a, size_t depth, const pyptox_buffer* b, uint64_t offset, size_t n) {
  const size_t size = dtype_size(b->dtype);
  for (size_t j = 0; j < n; j += v_lanes()) {
    const vm m = v_first(j, n);
    const char* column = element_at(b, offset + j);
    vf sum = v_float(v_isplat(0));
    for (size_t k = 0; k < depth; k++) {
      const vf row = load_as_f32(m, b->dtype, column + k * n * size);
      sum = v_add(sum, v_mul(v_splat(a[k]), row));
    }
    v_store(m, out + j, sum);
  }
}
