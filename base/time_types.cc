#include "base/time_types.h"

#include <ctime>

namespace pyptox {
namespace {

int64_t ReadNanoseconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Now ReadClocks() { return {{ReadNanoseconds(CLOCK_MONOTONIC)}, {ReadNanoseconds(CLOCK_REALTIME)}}; }

}  // namespace pyptox
