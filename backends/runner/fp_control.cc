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
  uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  state.x87 = x87;
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

std::string ControlHex(const FpControl& state) {
  const std::string x87 = state.x87 == FpControl::kUsualX87 ? "" : fmt::format(" x87 0x{:04x}", state.x87);
  return fmt::format("0x{:08x}{}", state.control, x87);
}

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
