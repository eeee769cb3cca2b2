// Floats of any width as bit patterns: conversion from double by round to nearest even, and back.
#ifndef PYPTOX_BACKENDS_COMPARE_FLOAT_BITS_H_
#define PYPTOX_BACKENDS_COMPARE_FLOAT_BITS_H_

#include <cstdint>

#include "backends/compare/dtype.h"

namespace pyptox::compare {

// Bits of `value` in the float type, rounded once to nearest, ties to even; overflow gives infinity; a NaN stays a
// NaN of the same sign. `dtype` is a float type.
uint64_t FloatBitsFromDouble(DType dtype, double value);

// Exact for every float type here.
double DoubleFromFloatBits(DType dtype, uint64_t bits);

enum class FloatClass { kZero, kFinite, kInfinity, kNan };
FloatClass ClassOf(DType dtype, uint64_t bits);

}  // namespace pyptox::compare

#endif  // PYPTOX_BACKENDS_COMPARE_FLOAT_BITS_H_
