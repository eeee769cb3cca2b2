// How much a bit-exact comparison costs over the memcmp that it can't do without.
//
//   cmake --build build/release-bench --target compare_bench    (a Release build with PYPTOX_BUILD_TESTS=ON)
//   compare_bench --benchmark_repetitions=11 --benchmark_report_aggregates_only=true
//
// Read ratios within one run, never bytes/s between two runs or machines: time(Compare/equal) over time(memcmp), both
// medians. Equal buffers cost one memcmp, so that ratio should be 1. With one different element the buffer is gone
// through twice at most, once to find that it differs and once by blocks to collect what does: a ratio up to about 2,
// for the last element, and about 1 for the first. A ratio far above means that equal stretches are no longer skipped
// as a whole. A cv above 0.05 means a disturbed machine: run it again.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "backends/compare/compare.h"

namespace pyptox::compare {
namespace {

constexpr size_t kBytes = 64 << 20;
constexpr size_t kElements = kBytes / sizeof(uint32_t);

// 1.0f everywhere: values whose text would be written if they differed.
std::vector<uint32_t> Ones() { return std::vector<uint32_t>(kElements, 0x3f800000); }

void CountBytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(kBytes));
}

void BenchMemcmp(benchmark::State& state) {
  const std::vector<uint32_t> expected = Ones();
  const std::vector<uint32_t> actual = Ones();
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::memcmp(expected.data(), actual.data(), kBytes));
    benchmark::ClobberMemory();
  }
  CountBytes(state);
}

// `different` is the index of the one element that differs; none when it is kElements.
void BenchCompare(benchmark::State& state, size_t different) {
  const std::vector<uint32_t> expected = Ones();
  std::vector<uint32_t> actual = Ones();
  if (different < kElements) ++actual[different];
  for (auto _ : state) {
    const Comparison comparison =
        Compare(std::as_bytes(std::span(expected)), std::as_bytes(std::span(actual)), DType::kF32, {});
    if (comparison.different != (different < kElements ? 1u : 0u)) state.SkipWithError("wrong number of differences");
    benchmark::ClobberMemory();
  }
  CountBytes(state);
}

BENCHMARK(BenchMemcmp)->Name("memcmp")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BenchCompare, equal, kElements)->Name("Compare/equal")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BenchCompare, first, size_t{0})->Name("Compare/first_differs")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BenchCompare, last, kElements - 1)->Name("Compare/last_differs")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pyptox::compare

BENCHMARK_MAIN();
