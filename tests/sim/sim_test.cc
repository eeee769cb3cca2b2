// `sim_test` runs 1,000 seeds and looks for each planted bug; `sim_test --seeds N [--first S]` runs others;
// `sim_test --seed N [--verbose]` replays one.
#include <gtest/gtest.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tests/sim/world.h"

namespace pyptox::sim {
namespace {

uint64_t g_first = 1;
uint64_t g_seeds = 1000;

TEST(Simulation, HoldsUnderTrouble) {
  Tally total;
  for (uint64_t seed = g_first; seed < g_first + g_seeds; ++seed) {
    const Result result = RunWorld({seed});
    total.Add(result.tally);
    ASSERT_EQ(result.fault, "") << "seed " << seed << "; replay: sim_test --seed " << seed << " --verbose";
  }
  std::printf("%llu seeds: %s\n", static_cast<unsigned long long>(g_seeds), total.Text().c_str());
  // The trouble did happen.
  if (g_seeds >= 100) {
    EXPECT_GT(total.lost, 0);
    EXPECT_GT(total.orphans, 0);
    EXPECT_GT(total.controller_lives, g_seeds);
  }
}

class SeesPlantedBug : public testing::TestWithParam<PlantedBug> {};

TEST_P(SeesPlantedBug, InSomeSeed) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const Result result = RunWorld({seed, false, GetParam()});
    if (result.fault.empty()) continue;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), result.fault.c_str());
    return;
  }
  FAIL() << "no seed shows it";
}

INSTANTIATE_TEST_SUITE_P(All, SeesPlantedBug,
                         testing::Values(PlantedBug::kActBeforeCommit, PlantedBug::kTokensNotStored,
                                         PlantedBug::kLeasesNotDeleted, PlantedBug::kJournalNotWritten,
                                         PlantedBug::kKillWithoutWaiting, PlantedBug::kNoGraceAfterStall,
                                         PlantedBug::kTokensNotChecked));

int Replay(uint64_t seed, bool verbose) {
  const Result result = RunWorld({seed, verbose});
  std::printf("seed %llu: %s\n%s\n", static_cast<unsigned long long>(seed),
              result.fault.empty() ? "holds" : result.fault.c_str(), result.tally.Text().c_str());
  return result.fault.empty() ? 0 : 1;
}

}  // namespace
}  // namespace pyptox::sim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  uint64_t replay = 0;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--verbose") {
      verbose = true;
      continue;
    }
    uint64_t* const target = flag == "--seed"    ? &replay
                             : flag == "--seeds" ? &pyptox::sim::g_seeds
                             : flag == "--first" ? &pyptox::sim::g_first
                                                 : nullptr;
    const char* const text = i + 1 < argc ? argv[++i] : "";
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), target ? *target : replay);
    if (!target || error != std::errc() || *end != '\0' || *target == 0) {
      std::fprintf(stderr, "usage: sim_test [--seeds N] [--first S] | --seed N [--verbose]\n");
      return 64;
    }
  }
  return replay != 0 ? pyptox::sim::Replay(replay, verbose) : RUN_ALL_TESTS();
}
