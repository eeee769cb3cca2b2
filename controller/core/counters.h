// The ids given out so far; the next one is one higher.
#ifndef PYPTOX_CONTROLLER_CORE_COUNTERS_H_
#define PYPTOX_CONTROLLER_CORE_COUNTERS_H_

#include <cstdint>

namespace pyptox::controller {

struct Counters {
  uint64_t submissions = 0;
  uint64_t jobs = 0;
  uint64_t attempts = 0;
  uint64_t orders = 0;  // of resources
  friend bool operator==(const Counters&, const Counters&) = default;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_COUNTERS_H_
