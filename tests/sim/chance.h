// Chance that a seed repeats: the same draws on every machine and standard library.
#ifndef PYPTOX_TESTS_SIM_CHANCE_H_
#define PYPTOX_TESTS_SIM_CHANCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time_types.h"

namespace pyptox::sim {

// SplitMix64 (Steele, Lea, Flood 2014).
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // low <= result <= high.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % (static_cast<uint64_t>(high - low) + 1));
  }
  Duration Between(Duration low, Duration high) { return {Between(low.ns, high.ns)}; }
  // True `percent` times of a hundred; fractions count.
  bool Percent(double percent) { return static_cast<double>(Next() >> 11) * 0x1p-53 * 100 < percent; }
  template <typename T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(Between(0, static_cast<int64_t>(choices.size()) - 1))];
  }

 private:
  uint64_t state_;
};

}  // namespace pyptox::sim

#endif  // PYPTOX_TESTS_SIM_CHANCE_H_
