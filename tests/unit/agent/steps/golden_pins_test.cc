#include "agent/steps/golden_pins.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pyptox::agent {
namespace {

const std::string kA(64, 'a');
const std::string kB(64, 'b');

TEST(GoldenPinsTest, ReadsWhatSha256sumWrites) {
  const auto pins = GoldenPins::Parse(kA + "  golden/a.bin\n" + kB + " *golden/with blank.bin\n\n", "lock");
  ASSERT_TRUE(pins.ok()) << pins.status();
  EXPECT_EQ(pins->FaultOf("golden/a.bin", kA), "");
  EXPECT_EQ(pins->FaultOf("golden/with blank.bin", kB), "");
  EXPECT_EQ(pins->FaultOf("golden/a.bin", kB), "golden/a.bin has the digest " + kB + ", pinned is " + kA);
  EXPECT_EQ(pins->FaultOf("golden/c.bin", kA), "golden/c.bin is not pinned");
  EXPECT_TRUE(GoldenPins::Parse("", "lock").ok());
}

TEST(GoldenPinsTest, AnythingElseIsAnError) {
  for (const std::string& text : std::vector<std::string>{
           kA, kA + "\n", kA + " a\n", kA + "  \n", kA + "  ../a\n", kA + "  /a\n", std::string(64, 'A') + "  a\n",
           kA.substr(1) + "  a\n", kA + "  a\n" + kB + "  a\n", "# comment\n", kA + "  a\r\n"}) {
    EXPECT_FALSE(GoldenPins::Parse(text, "lock").ok()) << text;
  }
  EXPECT_EQ(GoldenPins::Parse(kA + "  a\nnonsense\n", "lock").status().message(), "lock:2: not `DIGEST  NAME`");
}

}  // namespace
}  // namespace pyptox::agent
