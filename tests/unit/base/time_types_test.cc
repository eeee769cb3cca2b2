#include "base/time_types.h"

#include <gtest/gtest.h>

#include <ctime>

namespace pyptox {
namespace {

TEST(TimeTypes, Arithmetic) {
  EXPECT_EQ(Seconds(2).ns, 2'000'000'000);
  EXPECT_EQ(Milliseconds(1500), Seconds(1) + Milliseconds(500));
  EXPECT_EQ((MonoTime{5} + Duration{7}).ns, 12);
  EXPECT_EQ((MonoTime{5} - MonoTime{7}).ns, -2);
  EXPECT_LT(Milliseconds(999), Seconds(1));
  EXPECT_EQ((Seconds(1) - Seconds(3)).ns, -2'000'000'000);
}

TEST(TimeTypes, ReadsTheTwoClocks) {
  timespec mono_before{}, mono_after{};
  clock_gettime(CLOCK_MONOTONIC, &mono_before);
  const Now now = ReadClocks();
  clock_gettime(CLOCK_MONOTONIC, &mono_after);
  EXPECT_GE(now.mono.ns, mono_before.tv_sec * 1'000'000'000 + mono_before.tv_nsec);
  EXPECT_LE(now.mono.ns, mono_after.tv_sec * 1'000'000'000 + mono_after.tv_nsec);
  EXPECT_GT(now.wall.unix_ns, 1'600'000'000'000'000'000);  // 2020-09-13: it is nanoseconds
}

}  // namespace
}  // namespace pyptox
