#include "backends/api/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace pyptox::backends {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Target, TheTableHasTheFourTargets) {
  std::vector<std::string_view> names;
  for (const TargetInfo& target : Targets()) names.push_back(target.name);
  EXPECT_THAT(names, ElementsAre("cpu-scalar", "x86-avx2", "x86-avx512", "aarch64-sve256"));
}

TEST(Target, EachIsFoundByItsName) {
  for (const TargetInfo& target : Targets()) EXPECT_EQ(FindTarget(target.name), &target);
  EXPECT_EQ(FindTarget("x86-avx1024"), nullptr);
  EXPECT_EQ(FindTarget(""), nullptr);
}

TEST(Target, NeedsAreThoseOfTheProcessor) {
  EXPECT_THAT(FindTarget("cpu-scalar")->cpu_flags, IsEmpty());
  EXPECT_THAT(FindTarget("x86-avx2")->cpu_flags, testing::Contains("avx2"));
  EXPECT_THAT(FindTarget("x86-avx512")->cpu_flags, ElementsAre("avx512f", "avx512bw", "avx512vl"));
  EXPECT_EQ(FindTarget("aarch64-sve256")->machine, "aarch64");
  EXPECT_THAT(FindTarget("aarch64-sve256")->cpu_flags, ElementsAre("sve"));
}

}  // namespace
}  // namespace pyptox::backends
