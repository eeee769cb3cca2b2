// What to run, and how its process tree is held.
#ifndef PYPTOX_AGENT_EXEC_PROCESS_SPEC_H_
#define PYPTOX_AGENT_EXEC_PROCESS_SPEC_H_

#include <string>
#include <vector>

#include "base/time_types.h"

namespace pyptox::agent {

// How the tree is held together and ended.
enum class TreeMode {
  // Every process is a tracee: opened files are seen, nothing can leave, and all die with the agent.
  kTraced,
  // Where ptrace is not permitted: a supervisor process adopts orphans. Opened files are not seen.
  kSubreaper,
};

struct ProcessSpec {
  // Absolute path of the program; nothing is searched (agent/probe/toolchain.h finds programs).
  std::string program;
  // Passed as they are; argv[0] included.
  std::vector<std::string> argv;
  // NAME=VALUE, the whole environment: nothing of the agent's own is added.
  std::vector<std::string> env;
  // Absolute working folder.
  std::string cwd;
  // Limits; zero means none. `silence` is the time without a byte of output.
  Duration run_limit;
  Duration silence_limit;
  // Between TERM and KILL (DESIGN section 10).
  Duration kill_grace = Seconds(10);
  TreeMode mode = TreeMode::kTraced;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_PROCESS_SPEC_H_
