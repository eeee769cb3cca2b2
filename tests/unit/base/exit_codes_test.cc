#include "base/exit_codes.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

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
  EXPECT_TRUE(std::regex_match(std::string(kVersion), std::regex("[0-9]+\\.[0-9]+\\.[0-9]+"))) << kVersion;
}

}  // namespace
}  // namespace pyptox
