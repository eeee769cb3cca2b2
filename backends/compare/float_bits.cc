#include "backends/compare/float_bits.h"

#include <bit>

namespace pyptox::compare {
namespace {

struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint64_t exponent_mask() const { return (uint64_t{1} << exponent_bits) - 1; }
  uint64_t mantissa_mask() const { return (uint64_t{1} << mantissa_bits) - 1; }
  uint64_t infinity() const { return exponent_mask() << mantissa_bits; }
  int sign_shift() const { return exponent_bits + mantissa_bits; }
};

Layout LayoutOf(DType dtype) { return {InfoOf(dtype).exponent_bits, InfoOf(dtype).mantissa_bits}; }

constexpr Layout kDouble = {11, 52};

// value / 2^shift, rounded to nearest, ties to even. shift in 1..63.
uint64_t ShiftRoundEven(uint64_t value, int shift) {
  const uint64_t kept = value >> shift;
  const uint64_t rest = value & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
}

}  // namespace

uint64_t FloatBitsFromDouble(DType dtype, double value) {
  const uint64_t wide = std::bit_cast<uint64_t>(value);
  const Layout to = LayoutOf(dtype);
  if (to.mantissa_bits == kDouble.mantissa_bits) return wide;
  const uint64_t sign = (wide >> 63) << to.sign_shift();
  const uint64_t exponent = (wide >> 52) & kDouble.exponent_mask();
  const uint64_t mantissa = wide & kDouble.mantissa_mask();
  const int drop = kDouble.mantissa_bits - to.mantissa_bits;
  if (exponent == kDouble.exponent_mask()) {
    if (mantissa == 0) return sign | to.infinity();
    // Quiet, with the payload's upper bits.
    return sign | to.infinity() | (mantissa >> drop) | (uint64_t{1} << (to.mantissa_bits - 1));
  }
  // A double's own subnormals are far below half of the smallest subnormal of every narrower type here.
  if (exponent == 0) return sign;
  const int rebased = static_cast<int>(exponent) - kDouble.bias() + to.bias();
  if (rebased >= static_cast<int>(to.exponent_mask())) return sign | to.infinity();
  const uint64_t significand = mantissa | (uint64_t{1} << 52);
  if (rebased > 0) {
    // A carry out of the mantissa moves into the exponent, up to infinity: just what rounding should do.
    return sign | (((static_cast<uint64_t>(rebased) - 1) << to.mantissa_bits) + ShiftRoundEven(significand, drop));
  }
  const int shift = drop + 1 - rebased;
  return shift > 63 ? sign : sign | ShiftRoundEven(significand, shift);
}

double DoubleFromFloatBits(DType dtype, uint64_t bits) {
  const Layout from = LayoutOf(dtype);
  if (from.mantissa_bits == kDouble.mantissa_bits) return std::bit_cast<double>(bits);
  const uint64_t sign = (bits >> from.sign_shift()) << 63;
  uint64_t exponent = (bits >> from.mantissa_bits) & from.exponent_mask();
  uint64_t mantissa = bits & from.mantissa_mask();
  const int widen = kDouble.mantissa_bits - from.mantissa_bits;
  if (exponent == from.exponent_mask()) {
    return std::bit_cast<double>(sign | kDouble.infinity() | (mantissa << widen));
  }
  if (exponent == 0) {
    if (mantissa == 0) return std::bit_cast<double>(sign);
    // Subnormal: normalise.
    const int lift = std::countl_zero(mantissa) - (63 - from.mantissa_bits);
    mantissa = (mantissa << lift) & from.mantissa_mask();
    exponent = static_cast<uint64_t>(1 - lift - from.bias() + kDouble.bias());
  } else {
    exponent = exponent - static_cast<uint64_t>(from.bias()) + static_cast<uint64_t>(kDouble.bias());
  }
  return std::bit_cast<double>(sign | (exponent << 52) | (mantissa << widen));
}

FloatClass ClassOf(DType dtype, uint64_t bits) {
  const Layout layout = LayoutOf(dtype);
  const uint64_t magnitude = bits & ((uint64_t{1} << layout.sign_shift()) - 1);
  if (magnitude == 0) return FloatClass::kZero;
  if (magnitude < layout.infinity()) return FloatClass::kFinite;
  return magnitude == layout.infinity() ? FloatClass::kInfinity : FloatClass::kNan;
}

}  // namespace pyptox::compare
