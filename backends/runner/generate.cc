#include "backends/runner/generate.h"

#include <cmath>

#include "backends/compare/float_bits.h"

namespace pyptox::runner {
namespace {

using compare::DType;
using compare::DTypeKind;

uint64_t Random(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

uint64_t UniformFloat(const GenerateRule& rule, DType dtype, uint64_t random) {
  const double unit = static_cast<double>(random >> 11) * 0x1.0p-53;
  // Two roundings, never a fused one: the file is compiled with -ffp-contract=off.
  const double scaled = unit * (rule.high - rule.low);
  return compare::FloatBitsFromDouble(dtype, rule.low + scaled);
}

uint64_t UniformInteger(const GenerateRule& rule, uint64_t random) {
  const auto low = static_cast<int64_t>(rule.low);
  const uint64_t span = static_cast<uint64_t>(static_cast<int64_t>(rule.high)) - static_cast<uint64_t>(low) + 1;
  return static_cast<uint64_t>(low) + (span == 0 ? random : random % span);
}

uint64_t BitsAt(const GenerateRule& rule, const compare::DTypeInfo& info, uint64_t index) {
  const bool is_bool = info.kind == DTypeKind::kBool;
  switch (rule.kind) {
    case GenerateKind::kZero:
      return 0;
    case GenerateKind::kIota:
      return is_bool ? index & 1 : index;
    case GenerateKind::kBits:
      return is_bool ? Random(rule.seed, index) & 1 : Random(rule.seed, index);
    case GenerateKind::kUniform:
      break;
  }
  const uint64_t random = Random(rule.seed, index);
  if (is_bool) return random & 1;
  return info.kind == DTypeKind::kFloat ? UniformFloat(rule, info.dtype, random) : UniformInteger(rule, random);
}

}  // namespace

void Generate(const GenerateRule& rule, DType dtype, std::span<std::byte> storage) {
  const compare::DTypeInfo& info = compare::InfoOf(dtype);
  for (uint64_t index = 0; index * info.bytes < storage.size(); ++index) {
    uint64_t bits = BitsAt(rule, info, index);
    for (size_t i = 0; i < info.bytes; ++i, bits >>= 8) storage[index * info.bytes + i] = static_cast<std::byte>(bits);
  }
}

}  // namespace pyptox::runner
