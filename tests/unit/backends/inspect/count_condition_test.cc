#include "backends/inspect/count_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyptox::backends {
namespace {

InstructionCounts Sample() {
  InstructionCounts counts;
  counts.instructions = 10;
  counts.by_class = {{"ymm", 3}};
  counts.by_mnemonic = {{"vaddps", 2}};
  return counts;
}

bool Holds(const char* text) {
  const absl::StatusOr<CountCondition> condition = ParseCountCondition(text);
  EXPECT_TRUE(condition.ok()) << condition.status();
  return condition.ok() && !FaultOf(*condition, Sample()).has_value();
}

TEST(CountCondition, EveryOperatorAtItsBorder) {
  const struct {
    const char* op;
    bool below, same, above;
  } table[] = {{"=", false, true, false}, {"!=", true, false, true}, {">", true, false, false},
               {">=", true, true, false}, {"<", false, false, true}, {"<=", false, true, true}};
  for (const auto& row : table) {
    // The count is 3; the number is below, the same, above.
    EXPECT_EQ(Holds(("ymm " + std::string(row.op) + " 2").c_str()), row.below) << row.op;
    EXPECT_EQ(Holds(("ymm " + std::string(row.op) + " 3").c_str()), row.same) << row.op;
    EXPECT_EQ(Holds(("ymm " + std::string(row.op) + " 4").c_str()), row.above) << row.op;
  }
}

TEST(CountCondition, Subjects) {
  EXPECT_TRUE(Holds("insn = 10"));
  EXPECT_TRUE(Holds("op:vaddps = 2"));
  EXPECT_TRUE(Holds("op:b.le = 0"));
  EXPECT_TRUE(Holds("zmm = 0"));
  EXPECT_TRUE(Holds("  neon   =   0 "));
}

TEST(CountCondition, TheFaultSaysWhatWasFound) {
  const absl::StatusOr<CountCondition> condition = ParseCountCondition("zmm > 0");
  ASSERT_TRUE(condition.ok());
  EXPECT_EQ(FaultOf(*condition, Sample()), "zmm > 0 does not hold: 0 of 10 instructions are zmm");
}

TEST(CountCondition, AnythingElseIsAnErrorThatNamesTheText) {
  for (const char* text : {"", "ymm", "ymm >", "ymm > -1", "ymm > 1.5", "ymm > 0x1", "ymm > 0 0", "ymm>0", "ymm == 0",
                           "mmx > 0", "op: > 0", "YMM > 0", "ymm > 18446744073709551616", "ymm > 1e3"}) {
    const absl::StatusOr<CountCondition> condition = ParseCountCondition(text);
    EXPECT_EQ(condition.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(condition.status().message()), testing::HasSubstr("'" + std::string(text) + "'"));
  }
}

}  // namespace
}  // namespace pyptox::backends
