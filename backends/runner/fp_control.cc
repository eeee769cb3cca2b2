#include "backends/runner/fp_control.h"

#include <fmt/format.h>

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace pyptox::runner {

FpControl ReadFpControl() {
  FpControl state;
#if defined(__x86_64__)
  constexpr uint32_t kStickyFlags = 0x3f;
  state.control = _mm_getcsr() & ~kStickyFlags;
#elif defined(__aarch64__)
  uint64_t fpcr = 0;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  state.control = static_cast<uint32_t>(fpcr);
#else
#error "no floating-point control register known for this machine"
#endif
  state.rounding = fegetround();
  return state;
}

std::string ControlHex(const FpControl& state) { return fmt::format("0x{:08x}", state.control); }

std::string RoundingName(const FpControl& state) {
  switch (state.rounding) {
    case FE_TONEAREST:
      return "FE_TONEAREST";
    case FE_UPWARD:
      return "FE_UPWARD";
    case FE_DOWNWARD:
      return "FE_DOWNWARD";
    case FE_TOWARDZERO:
      return "FE_TOWARDZERO";
    default:
      return fmt::format("unknown {}", state.rounding);
  }
}

}  // namespace pyptox::runner
