// Waiting for jobs with something to see, and the result at the end.
#ifndef PYPTOX_CTL_COMMANDS_WAIT_H_
#define PYPTOX_CTL_COMMANDS_WAIT_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/exit_codes.h"
#include "ctl/commands/session.h"
#include "pyptox/v1/job.pb.h"

namespace pyptox::ctl {

struct WaitOptions {
  // SIGINT and SIGTERM cancel the jobs, and the wait goes on to their end. Else they end the wait only: the jobs go on,
  // and the exit status is 128 + signal.
  bool cancel_on_signal = false;
  // Looked at a few times a second; an error ends the wait.
  std::function<absl::Status()> alive;
};

// Waits until all are DONE, and leaves them in `jobs` as they are then. Shows progress per lane on stderr: redrawn on a
// terminal, a line a change elsewhere. False when it ended early, with the exit status set.
bool WaitForJobs(Session& session, std::vector<v1::Job>* jobs, const WaitOptions& options = {});

// Shows the outcomes, the cases that did not pass, and `more`; the exit status becomes that of the worst outcome.
void ShowOutcomes(Session& session, const std::vector<v1::Job>& jobs, std::vector<Section> more = {});

// The exit status of several outcomes. The order, worst first: internal error, busy, fail, blocked, pass.
ExitCode WorseOf(ExitCode a, ExitCode b);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_WAIT_H_
