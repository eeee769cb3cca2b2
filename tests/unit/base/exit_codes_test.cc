#include "base/exit_codes.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "base/version.h"

namespace pyptox {
namespace {

TEST(ExitCodes, HaveTheNumbersOfTheDesign) {
  EXPECT_EQ(kExitPass, 0);
  EXPECT_EQ(kExitVerdictFail, 1);
  EXPECT_EQ(kExitBlocked, 3);
  EXPECT_EQ(kExitUsage, 64);
  EXPECT_EQ(kExitData, 65);
  EXPECT_EQ(kExitUnavailable, 69);
  EXPECT_EQ(kExitInternal, 70);
  EXPECT_EQ(kExitIo, 74);
  EXPECT_EQ(kExitBusy, 75);
}

TEST(Version, IsThreeNumbers) {
  int numbers[3] = {-1, -1, -1}, end = 0;
  EXPECT_EQ(std::sscanf(kVersion, "%d.%d.%d%n", &numbers[0], &numbers[1], &numbers[2], &end), 3) << kVersion;
  EXPECT_EQ(std::string_view(kVersion).size(), static_cast<size_t>(end)) << kVersion;
}

}  // namespace
}  // namespace pyptox
