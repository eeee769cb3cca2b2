// Two clocks that can't be mixed up: durations on the monotonic clock decide, wall time is for people.
#ifndef PYPTOX_BASE_TIME_TYPES_H_
#define PYPTOX_BASE_TIME_TYPES_H_

#include <compare>
#include <cstdint>

namespace pyptox {

// A length of time in nanoseconds.
struct Duration {
  int64_t ns = 0;
  friend auto operator<=>(const Duration&, const Duration&) = default;
  friend Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
  friend Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
};
constexpr Duration Milliseconds(int64_t n) { return {n * 1'000'000}; }
constexpr Duration Seconds(int64_t n) { return {n * 1'000'000'000}; }

// A point on this process's monotonic clock; means nothing in another process.
struct MonoTime {
  int64_t ns = 0;
  friend auto operator<=>(const MonoTime&, const MonoTime&) = default;
  friend MonoTime operator+(MonoTime t, Duration d) { return {t.ns + d.ns}; }
  friend Duration operator-(MonoTime a, MonoTime b) { return {a.ns - b.ns}; }
};

// Nanoseconds since the Unix epoch. No operator that could decide anything.
struct WallTime {
  int64_t unix_ns = 0;
};

// The time of one step of a core, read once by its shell.
struct Now {
  MonoTime mono;
  WallTime wall;
};

// Reads CLOCK_MONOTONIC and CLOCK_REALTIME. For shells; a core takes Now as an argument.
Now ReadClocks();

}  // namespace pyptox

#endif  // PYPTOX_BASE_TIME_TYPES_H_
