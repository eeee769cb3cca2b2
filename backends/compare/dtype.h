// Element types as numbers: sizes, names, kinds. The numbers equal pyptox.v1.DType and the kernel ABI's PYPTOX_*.
#ifndef PYPTOX_BACKENDS_COMPARE_DTYPE_H_
#define PYPTOX_BACKENDS_COMPARE_DTYPE_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace pyptox::compare {

enum class DType {
  kF32 = 1,
  kF64 = 2,
  kF16 = 3,
  kBf16 = 4,
  kI8 = 5,
  kI16 = 6,
  kI32 = 7,
  kI64 = 8,
  kU8 = 9,
  kU16 = 10,
  kU32 = 11,
  kU64 = 12,
  kBool = 13,
};

enum class DTypeKind { kFloat, kSigned, kUnsigned, kBool };

// One row per element type. The float fields are 0 for other kinds.
struct DTypeInfo {
  DType dtype;
  // As suites and commands write it: `bf16`.
  std::string_view name;
  // As the safetensors format writes it: `BF16`.
  std::string_view safetensors;
  size_t bytes;
  DTypeKind kind;
  int exponent_bits;
  int mantissa_bits;
};

// Never fails for a value of the enum.
const DTypeInfo& InfoOf(DType dtype);

std::optional<DType> DTypeByName(std::string_view name);
std::optional<DType> DTypeByNumber(int number);

}  // namespace pyptox::compare

#endif  // PYPTOX_BACKENDS_COMPARE_DTYPE_H_
