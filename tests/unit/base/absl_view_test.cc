#include "base/absl_view.h"

#include <gtest/gtest.h>

namespace pyptox {
namespace {

TEST(AbslView, CarriesTheSameBytesBothWays) {
  const std::string_view text("a\0b", 3);
  EXPECT_EQ(AbslView(text).data(), text.data());
  EXPECT_EQ(AbslView(text).size(), 3u);
  EXPECT_EQ(StdView(AbslView(text)), text);
}

}  // namespace
}  // namespace pyptox
