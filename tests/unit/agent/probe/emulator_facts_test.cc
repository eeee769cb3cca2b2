#include "agent/probe/emulator_facts.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <map>

#include "base/file_io.h"
#include "base/sha256.h"

namespace pyptox::agent {
namespace {

class EmulatorFactsTest : public ::testing::Test {
 protected:
  EmulatorFactsTest() : folder_(::testing::TempDir() + "pyptox-probe-XXXXXX") {
    if (mkdtemp(folder_.data()) == nullptr) abort();
  }
  ~EmulatorFactsTest() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeFolders(folder_ + "/" + name.substr(0, name.rfind('/'))).ok());
    std::ofstream(folder_ + "/" + name) << text;
    ASSERT_EQ(chmod((folder_ + "/" + name).c_str(), 0755), 0);
  }
  std::map<std::string, std::string> Probe(const absl::StatusOr<std::string>& answer) {
    std::map<std::string, std::string> values;
    for (const v1::Fact& fact :
         ProbeEmulator(folder_ + "/bin", folder_, "here", WallTime{5}, [&](const std::vector<std::string>& argv) {
           EXPECT_EQ(argv.back(), "--version");
           return answer;
         })) {
      EXPECT_EQ(fact.observer(), "agent:here");
      EXPECT_EQ(fact.observed_at_ns(), 5);
      EXPECT_FALSE(fact.method().empty());
      values[fact.key()] = fact.value();
    }
    return values;
  }
  std::string folder_;
};

TEST_F(EmulatorFactsTest, AbsentIsSaid) {
  const auto facts = Probe(std::string("never asked"));
  EXPECT_EQ(facts.at("qemu_aarch64"), "absent");
  EXPECT_EQ(facts.at("qemu_aarch64_sha256"), "absent");
  EXPECT_EQ(facts.at("aarch64_loader"), "absent");
}

TEST_F(EmulatorFactsTest, VersionDigestAndLoader) {
  Write("bin/qemu-aarch64", "an emulator");
  Write("usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1", "");
  auto facts = Probe(std::string("qemu-aarch64 version 7.2.9\nCopyright\n"));
  EXPECT_EQ(facts.at("qemu_aarch64"), "qemu-aarch64 version 7.2.9");
  EXPECT_EQ(facts.at("qemu_aarch64_sha256"), Sha256Of(std::string_view("an emulator")).Hex());
  EXPECT_EQ(facts.at("aarch64_loader"), "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1");
  Write("lib/ld-linux-aarch64.so.1", "");
  facts = Probe(absl::InternalError("no answer"));
  EXPECT_EQ(facts.at("qemu_aarch64"), "unknown");
  EXPECT_EQ(facts.at("aarch64_loader"), "/lib/ld-linux-aarch64.so.1");
}

}  // namespace
}  // namespace pyptox::agent
