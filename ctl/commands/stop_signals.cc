#include "ctl/commands/stop_signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace pyptox::ctl {
namespace {

// A signal handler has no other way to its object. Made by the constructor; bytes are signal numbers, 0 for Wake.
int g_pipe[2] = {-1, -1};

void Send(unsigned char byte) {
  const int before = errno;
  // A full pipe has something to wake up for already.
  [[maybe_unused]] const ssize_t written = write(g_pipe[1], &byte, 1);
  errno = before;
}

void Catch(int signal) { Send(static_cast<unsigned char>(signal)); }

}  // namespace

StopSignals::StopSignals() {
  if (pipe2(g_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;  // out of descriptors: the signals keep their effect
  struct sigaction action {};
  action.sa_handler = &Catch;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_int_);
  sigaction(SIGTERM, &action, &old_term_);
  // In the background of a shell SIGINT is ignored, and stays so.
  if (old_int_.sa_handler == SIG_IGN) sigaction(SIGINT, &old_int_, nullptr);
}

StopSignals::~StopSignals() {
  if (g_pipe[0] < 0) return;
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  for (int& end : g_pipe) {
    close(end);
    end = -1;
  }
}

int StopSignals::Wait(Duration limit) {
  pollfd fd{g_pipe[0], POLLIN, 0};
  const int ready = poll(&fd, 1, static_cast<int>(limit.ns / 1'000'000));
  unsigned char byte = 0;
  if (ready > 0 && read(g_pipe[0], &byte, 1) == 1) return byte;
  // A poll that a signal interrupts leaves its byte for the next call.
  return 0;
}

void StopSignals::Wake() { Send(0); }

}  // namespace pyptox::ctl
