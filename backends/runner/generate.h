// Buffer contents made by rule, the same on every machine and in examples/*/reference (which has its own code).
//
// Definition. r(i) = splitmix64 finaliser of (seed + (i + 1) * 0x9E3779B97F4A7C15) modulo 2^64:
//   z = seed + (i+1)*0x9E3779B97F4A7C15;  z = (z ^ z>>30) * 0xBF58476D1CE4E5B9;
//   z = (z ^ z>>27) * 0x94D049BB133111EB;  r = z ^ z>>31
// (S. Vigna's public-domain splitmix64). i counts elements of the storage from 0.
//   zero    : all bytes zero
//   iota    : the low bits of i as an unsigned integer of the dtype's width (bool: i & 1)
//   bits    : the low bits of r(i) of the dtype's width (bool: r & 1)
//   uniform : floats: u = (r >> 11) * 2^-53 (a double in [0,1)); v = low + u * (high - low) in double, each
//             operation rounded once (no fused multiply-add); then v rounded to nearest even to the dtype.
//             integers: low and high are integers; low + r mod (high - low + 1). bool: r & 1.
#ifndef PYPTOX_BACKENDS_RUNNER_GENERATE_H_
#define PYPTOX_BACKENDS_RUNNER_GENERATE_H_

#include <cstdint>
#include <span>

#include "backends/compare/dtype.h"

namespace pyptox::runner {

enum class GenerateKind { kZero = 1, kIota = 2, kUniform = 3, kBits = 4 };

struct GenerateRule {
  GenerateKind kind = GenerateKind::kZero;
  uint64_t seed = 0;
  double low = 0;
  double high = 0;
};

// Fills `storage`, whose size is a multiple of the dtype's size, by the rule above.
void Generate(const GenerateRule& rule, compare::DType dtype, std::span<std::byte> storage);

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_GENERATE_H_
