// The supervisor process of a SubreaperTree. It runs in a forked child of a multithreaded process and never executes:
// async-signal-safe calls only, no allocation.
#ifndef PYPTOX_AGENT_EXEC_SUBREAPER_SUPERVISOR_H_
#define PYPTOX_AGENT_EXEC_SUBREAPER_SUPERVISOR_H_

#include <cstdint>

#include "agent/exec/child_start.h"

namespace pyptox::agent {

// Commands on the control pipe. Its end of file means kKillCommand.
inline constexpr char kTerminateCommand = 'T';
inline constexpr char kKillCommand = 'K';

// What the supervisor writes to the report pipe.
struct SupervisorReport {
  enum Kind : int32_t { kMainEnded, kEmpty };
  Kind kind;
  // Wait status of the first process.
  int32_t status;
  uint32_t killed;
  uint64_t max_rss_kib;
};

struct SupervisorPlan {
  const ChildPlan* child;
  int control;  // read end
  int report;   // write end
};

// `plan` is a SupervisorPlan. Does not return.
[[noreturn]] void RunSupervisor(const void* plan);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_SUBREAPER_SUPERVISOR_H_
