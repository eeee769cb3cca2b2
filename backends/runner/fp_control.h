// The floating-point control state of the calling thread: what loading a module or a kernel may not change.
#ifndef PYPTOX_BACKENDS_RUNNER_FP_CONTROL_H_
#define PYPTOX_BACKENDS_RUNNER_FP_CONTROL_H_

#include <cstdint>
#include <string>

namespace pyptox::runner {

// Plain data: it travels through a pipe.
struct FpControl {
  // x86-64: MXCSR bits 6 to 15 (DAZ, masks, rounding, FTZ; Intel SDM vol. 1, 10.2.3); the sticky flags are left out.
  // AArch64: FPCR (Arm ARM, C5.2.8).
  uint32_t control = 0;
  // Of fegetround().
  int32_t rounding = 0;
  // x86-64: the x87 control word (precision, rounding, masks; Intel SDM vol. 1, 8.1.5), which long double obeys. Else
  // as a process starts with it.
  uint32_t x87 = kUsualX87;

  static constexpr uint32_t kUsualX87 = 0x037f;

  friend bool operator==(const FpControl&, const FpControl&) = default;
};

FpControl ReadFpControl();

// `0x00001f80`; `0x00001f80 x87 0x007f` with another x87 control word than a process starts with.
std::string ControlHex(const FpControl& state);
// FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO.
std::string RoundingName(const FpControl& state);

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_FP_CONTROL_H_
