// Bit-exact comparison. Bytes decide; the numbers explain a difference and never turn it into a pass.
#ifndef PYPTOX_BACKENDS_COMPARE_COMPARE_H_
#define PYPTOX_BACKENDS_COMPARE_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/compare/dtype.h"

namespace pyptox::compare {

// ULP distance where one side is NaN and the other is not, or both are NaN with other bits.
inline constexpr uint64_t kNoDistance = std::numeric_limits<uint64_t>::max();

// One differing element. Mirrors pyptox.v1.ElementDifference.
struct ElementDifference {
  uint64_t index = 0;
  std::vector<uint64_t> multi_index;
  std::string expected_hex;
  std::string actual_hex;
  std::string expected;
  std::string actual;
  uint64_t ulp = 0;
};

// Mirrors pyptox.v1.Comparison. With unequal lengths only `equal`, `expected_bytes` and `actual_bytes` are set.
struct Comparison {
  bool equal = false;
  uint64_t elements = 0;
  uint64_t different = 0;
  uint64_t expected_bytes = 0;
  uint64_t actual_bytes = 0;
  std::optional<ElementDifference> first;
  // Up to five: largest distance first, NaN pairs before all numbers, then lowest index.
  std::vector<ElementDifference> worst;
  // Over differing pairs of numbers; pairs with a NaN are counted apart.
  uint64_t max_ulp = 0;
  uint64_t nan_bits = 0;
  uint64_t nan_one_side = 0;
  uint64_t zero_sign = 0;
};

// Compares two storages of `dtype`. `shape` gives multi-indices; it is used only if its product is the number of
// elements. A bool element of `actual` other than 0 or 1 differs even from itself. Trailing bytes short of one element
// count as an element of their own, which is in no class and has no distance. Needs no memory in the order of the inputs; equal inputs cost one memcmp.
Comparison Compare(std::span<const std::byte> expected, std::span<const std::byte> actual, DType dtype,
                   std::span<const uint64_t> shape);

// 0x and two digits a byte, most significant first, of a little-endian element.
std::string HexOf(std::span<const std::byte> element);
// Shortest decimal that reads back as the same bits in that type; nan, -nan, inf, -inf; integers as they are.
std::string DecimalOf(std::span<const std::byte> element, DType dtype);
// Steps between two values on the line of representable numbers (-0 and +0 are one step apart); integers: absolute
// difference. kNoDistance when a NaN is involved.
uint64_t DistanceOf(std::span<const std::byte> a, std::span<const std::byte> b, DType dtype);

}  // namespace pyptox::compare

#endif  // PYPTOX_BACKENDS_COMPARE_COMPARE_H_
