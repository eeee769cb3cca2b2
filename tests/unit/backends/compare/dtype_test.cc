#include "backends/compare/dtype.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "backends/runner/pyptox_kernel.h"

namespace pyptox::compare {
namespace {

TEST(DType, TableAgreesWithTheKernelInterface) {
  const std::map<std::string, std::pair<int, size_t>> expected = {
      {"f32", {PYPTOX_F32, 4}},  {"f64", {PYPTOX_F64, 8}}, {"f16", {PYPTOX_F16, 2}}, {"bf16", {PYPTOX_BF16, 2}},
      {"i8", {PYPTOX_I8, 1}},    {"i16", {PYPTOX_I16, 2}}, {"i32", {PYPTOX_I32, 4}}, {"i64", {PYPTOX_I64, 8}},
      {"u8", {PYPTOX_U8, 1}},    {"u16", {PYPTOX_U16, 2}}, {"u32", {PYPTOX_U32, 4}}, {"u64", {PYPTOX_U64, 8}},
      {"bool", {PYPTOX_BOOL, 1}}};
  for (const auto& [name, row] : expected) {
    const std::optional<DType> dtype = DTypeByName(name);
    ASSERT_TRUE(dtype.has_value()) << name;
    EXPECT_EQ(static_cast<int>(*dtype), row.first) << name;
    EXPECT_EQ(DTypeByNumber(row.first), dtype) << name;
    const DTypeInfo& info = InfoOf(*dtype);
    EXPECT_EQ(info.dtype, *dtype) << name;
    EXPECT_EQ(info.name, name);
    EXPECT_EQ(info.bytes, row.second) << name;
    if (info.kind == DTypeKind::kFloat) {
      EXPECT_EQ(1 + info.exponent_bits + info.mantissa_bits, static_cast<int>(8 * info.bytes)) << name;
    }
  }
}

TEST(DType, NothingElseIsAType) {
  for (const char* name : {"", "F32", "float", "f8", "bf16 ", "i128"})
    EXPECT_EQ(DTypeByName(name), std::nullopt) << name;
  EXPECT_EQ(DTypeByNumber(0), std::nullopt);
  EXPECT_EQ(DTypeByNumber(14), std::nullopt);
  EXPECT_EQ(DTypeByNumber(-1), std::nullopt);
}

}  // namespace
}  // namespace pyptox::compare
