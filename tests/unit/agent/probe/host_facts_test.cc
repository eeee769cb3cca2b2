#include "agent/probe/host_facts.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>

#include "base/file_io.h"

namespace pyptox::agent {
namespace {

// A machine made of files.
class HostFactsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pyptox-host.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    view_.root = name;
  }
  void TearDown() override { ASSERT_TRUE(RemoveTree(view_.root).ok()); }

  void Write(const std::string& path, const std::string& text) {
    const std::string full = view_.root + path;
    ASSERT_TRUE(MakeFolders(full.substr(0, full.rfind('/'))).ok());
    ASSERT_TRUE(WriteFileAtomically(full, text).ok());
  }

  std::map<std::string, std::string> Probe() {
    std::map<std::string, std::string> values;
    for (const v1::Fact& fact : ProbeHost(view_, "dev", WallTime{17})) {
      EXPECT_EQ(fact.observer(), "agent:dev");
      EXPECT_EQ(fact.observed_at_ns(), 17);
      EXPECT_FALSE(fact.method().empty()) << fact.key();
      values[fact.key()] = fact.value();
    }
    return values;
  }

  HostView view_;
};

TEST_F(HostFactsTest, X86GuestUnderKvm) {
  Write(
      "/proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Example CPU @ 2.00GHz\nmicrocode\t: 0x1000065\nflags\t\t: fpu avx2 hypervisor\n\n"
      "processor\t: 1\nmodel name\t: Other\n");
  Write("/sys/devices/system/cpu/online", "0-3,8\n");
  view_.hypervisor_signature = "KVMKVMKVM";
  const auto facts = Probe();
  EXPECT_EQ(facts.at("cpu_model"), "Example CPU @ 2.00GHz");
  EXPECT_EQ(facts.at("cpu_flags"), "fpu avx2 hypervisor");
  EXPECT_EQ(facts.at("microcode"), "0x1000065");
  EXPECT_EQ(facts.at("cpus"), "5");
  EXPECT_EQ(facts.at("virtualization"), "kvm");
}

TEST_F(HostFactsTest, BareMetalAndForeignHypervisor) {
  Write("/proc/cpuinfo", "flags\t: fpu avx2\n");
  EXPECT_EQ(Probe().at("virtualization"), "none");
  Write("/proc/cpuinfo", "flags\t: fpu hypervisor avx2\n");
  view_.hypervisor_signature = "SomethingNew";
  EXPECT_EQ(Probe().at("virtualization"), "other");
}

TEST_F(HostFactsTest, Aarch64NeverClaimsBareMetal) {
  Write("/proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd sve svebf16\nCPU part\t: 0xd02\n");
  auto facts = Probe();
  EXPECT_EQ(facts.at("cpu_flags"), "fp asimd sve svebf16");
  EXPECT_EQ(facts.at("cpu_model"), "0xd02");
  EXPECT_EQ(facts.at("virtualization"), "unknown");
  Write("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
  EXPECT_EQ(Probe().at("virtualization"), "kvm");
}

TEST_F(HostFactsTest, UnreadableIsUnknownNotZero) {
  Write("/sys/devices/system/cpu/online", "garbage");
  const auto facts = Probe();
  for (const char* key : {"cpu_model", "cpu_flags", "cpus", "microcode", "virtualization"}) {
    EXPECT_EQ(facts.at(key), "unknown") << key;
  }
}

TEST(HostFacts, ThisHostHasAllKeys) {
  const HostView here{"", ReadHypervisorSignature()};
  std::map<std::string, std::string> values;
  for (const v1::Fact& fact : ProbeHost(here, "dev", WallTime{1})) values[fact.key()] = fact.value();
  EXPECT_EQ(values.size(), 9u);
  EXPECT_NE(values.at("cpu_flags"), "unknown");
  EXPECT_EQ(values.at("libc").substr(0, 6), "glibc ");
}

}  // namespace
}  // namespace pyptox::agent
