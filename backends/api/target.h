// What code is built for, as an explicit table.
#ifndef PYPTOX_BACKENDS_API_TARGET_H_
#define PYPTOX_BACKENDS_API_TARGET_H_

#include <span>
#include <string_view>
#include <vector>

namespace pyptox::backends {

struct TargetInfo {
  // As suites write it: `x86-avx2`.
  std::string_view name;
  // `uname -m` of a machine that runs it.
  std::string_view machine;
  // What the processor must have, as /proc/cpuinfo names it.
  std::vector<std::string_view> cpu_flags;
};

std::span<const TargetInfo> Targets();

// Null for an unknown name.
const TargetInfo* FindTarget(std::string_view name);

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_API_TARGET_H_
