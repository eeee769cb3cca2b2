// Exit codes of every program (DESIGN section 5). 69 and 75 mean: wait and try again.
#ifndef PYPTOX_BASE_EXIT_CODES_H_
#define PYPTOX_BASE_EXIT_CODES_H_

namespace pyptox {

enum ExitCode : int {
  kExitPass = 0,
  // A verdict that is not PASS: FAIL, NO_VERDICT, CANCELLED, TIMEOUT(run|silence).
  kExitVerdictFail = 1,
  // BLOCKED_TOOLCHAIN, BLOCKED_DEVICE.
  kExitBlocked = 3,
  // Wrong command line.
  kExitUsage = 64,
  // Wrong contents of a file.
  kExitData = 65,
  // Admission refused, or the controller can't be reached.
  kExitUnavailable = 69,
  // INFRA, LOST, a safety stop, or our own fault.
  kExitInternal = 70,
  kExitIo = 74,
  // A lock is held by someone else, TIMEOUT(queue).
  kExitBusy = 75,
};

}  // namespace pyptox

#endif  // PYPTOX_BASE_EXIT_CODES_H_
