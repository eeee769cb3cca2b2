#include "backends/runner/fp_control.h"

#include <gtest/gtest.h>

#include <cfenv>

namespace pyptox::runner {
namespace {

class FpControlTest : public testing::Test {
 protected:
  void TearDown() override { fesetenv(FE_DFL_ENV); }
};

TEST_F(FpControlTest, RoundingModesAreSeenAndNamed) {
  const FpControl usual = ReadFpControl();
  EXPECT_EQ(RoundingName(usual), "FE_TONEAREST");
  const struct {
    int mode;
    const char* name;
  } table[] = {{FE_UPWARD, "FE_UPWARD"}, {FE_DOWNWARD, "FE_DOWNWARD"}, {FE_TOWARDZERO, "FE_TOWARDZERO"}};
  for (const auto& row : table) {
    fesetround(row.mode);
    EXPECT_NE(ReadFpControl().control, usual.control) << row.name;
    EXPECT_EQ(RoundingName(ReadFpControl()), row.name);
  }
  fesetround(FE_TONEAREST);
  EXPECT_EQ(ReadFpControl(), usual);
}

TEST_F(FpControlTest, StickyFlagsAreNoControl) {
  const FpControl usual = ReadFpControl();
  feraiseexcept(FE_INEXACT | FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
  EXPECT_EQ(ReadFpControl(), usual);
}

#if defined(__x86_64__)
// The precision of long double is no rounding mode and stands in no SSE register.
TEST_F(FpControlTest, TheX87PrecisionIsControl) {
  const FpControl usual = ReadFpControl();
  const uint16_t single = 0x007f;
  asm volatile("fldcw %0" ::"m"(single));
  const FpControl changed = ReadFpControl();
  EXPECT_NE(changed, usual);
  EXPECT_EQ(ControlHex(changed), ControlHex(usual) + " x87 0x007f");
  EXPECT_EQ(changed.rounding, usual.rounding);
}
#endif

TEST_F(FpControlTest, HexHasEightDigits) {
  EXPECT_EQ(ControlHex({0x1f80, 0}), "0x00001f80");
  EXPECT_EQ(ControlHex({0, 0}), "0x00000000");
}

}  // namespace
}  // namespace pyptox::runner
