// SIGINT and SIGTERM as something to wait for.
#ifndef PYPTOX_CTL_COMMANDS_STOP_SIGNALS_H_
#define PYPTOX_CTL_COMMANDS_STOP_SIGNALS_H_

#include <signal.h>

#include "base/time_types.h"

namespace pyptox::ctl {

// Takes the two signals over while it lives; one object at a time. Each is caught once: a second one ends the process,
// so that a person is never locked in.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits for a signal or Wake(), at most `limit`. The signal's number, or 0. Called by one thread.
  int Wait(Duration limit);
  // Ends a Wait. Thread safe.
  void Wake();

 private:
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_STOP_SIGNALS_H_
