#include "backends/api/target.h"

namespace pyptox::backends {
namespace {

// Flags per target: AVX2 code is built with -mavx2 -mf16c (every AVX2 processor has F16C, but it is a flag of its own);
// AVX-512 code with the F, BW and VL subsets.
const std::vector<TargetInfo>& Table() {
  static const auto* const kTable = new std::vector<TargetInfo>{
      {"cpu-scalar", "x86_64", {}},
      {"x86-avx2", "x86_64", {"avx2", "f16c"}},
      {"x86-avx512", "x86_64", {"avx512f", "avx512bw", "avx512vl"}},
      {"aarch64-sve256", "aarch64", {"sve"}},
  };
  return *kTable;
}

}  // namespace

std::span<const TargetInfo> Targets() { return Table(); }

const TargetInfo* FindTarget(std::string_view name) {
  for (const TargetInfo& target : Table()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace pyptox::backends
