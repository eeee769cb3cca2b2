#include "agent/exec/stop_signal.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace pyptox::agent {

StopSignal::StopSignal() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  // Without it a running step could not be cancelled: there is nothing to go on with.
  if (!event_.valid()) std::abort();
}

void StopSignal::Request() {
  if (requested_.exchange(true)) return;
  const uint64_t one = 1;
  if (write(event_.get(), &one, sizeof one) != sizeof one) std::abort();
}

}  // namespace pyptox::agent
