#include "backends/compare/dtype.h"

#include <array>

namespace pyptox::compare {
namespace {

// In the order of the enum, which starts at 1.
constexpr std::array<DTypeInfo, 13> kInfos = {{
    {DType::kF32, "f32", "F32", 4, DTypeKind::kFloat, 8, 23},
    {DType::kF64, "f64", "F64", 8, DTypeKind::kFloat, 11, 52},
    {DType::kF16, "f16", "F16", 2, DTypeKind::kFloat, 5, 10},
    {DType::kBf16, "bf16", "BF16", 2, DTypeKind::kFloat, 8, 7},
    {DType::kI8, "i8", "I8", 1, DTypeKind::kSigned, 0, 0},
    {DType::kI16, "i16", "I16", 2, DTypeKind::kSigned, 0, 0},
    {DType::kI32, "i32", "I32", 4, DTypeKind::kSigned, 0, 0},
    {DType::kI64, "i64", "I64", 8, DTypeKind::kSigned, 0, 0},
    {DType::kU8, "u8", "U8", 1, DTypeKind::kUnsigned, 0, 0},
    {DType::kU16, "u16", "U16", 2, DTypeKind::kUnsigned, 0, 0},
    {DType::kU32, "u32", "U32", 4, DTypeKind::kUnsigned, 0, 0},
    {DType::kU64, "u64", "U64", 8, DTypeKind::kUnsigned, 0, 0},
    {DType::kBool, "bool", "BOOL", 1, DTypeKind::kBool, 0, 0},
}};

}  // namespace

const DTypeInfo& InfoOf(DType dtype) { return kInfos[static_cast<size_t>(dtype) - 1]; }

std::optional<DType> DTypeByName(std::string_view name) {
  for (const DTypeInfo& info : kInfos) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

std::optional<DType> DTypeByNumber(int number) {
  if (number < 1 || number > static_cast<int>(kInfos.size())) return std::nullopt;
  return static_cast<DType>(number);
}

}  // namespace pyptox::compare
