// Waiting for jobs with something to see, and the result at the end.
#ifndef PYPTOX_CTL_COMMANDS_WAIT_H_
#define PYPTOX_CTL_COMMANDS_WAIT_H_

#include <vector>

#include "ctl/commands/session.h"
#include "pyptox/v1/job.pb.h"

namespace pyptox::ctl {

// Waits until all are DONE, shows progress per lane (redrawn on a terminal, a line a change elsewhere), then outcomes
// and the cases that did not pass, and sets the exit status: the worst of the outcomes, in the order internal error,
// busy, fail, blocked, pass. SIGINT and SIGTERM end the wait only: the jobs go on.
void WaitForJobs(Session& session, const std::vector<v1::Job>& jobs);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_WAIT_H_
