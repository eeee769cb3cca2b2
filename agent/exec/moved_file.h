// The files that a thread is about to give another name: by link or rename a file from anywhere becomes one of the
// attempt's folder without being opened, a stale library too.
#ifndef PYPTOX_AGENT_EXEC_MOVED_FILE_H_
#define PYPTOX_AGENT_EXEC_MOVED_FILE_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/unique_fd.h"

namespace pyptox::agent {

// Whether the native system call `number` is link, linkat, rename, renameat or renameat2.
bool MovesAFile(uint64_t number);

// What such a call by thread `tid`, stopped before it, names as its source, opened with O_PATH; both names when it
// exchanges two. `arguments` are the call's six. A name that leads nowhere is left out: the call will fail.
std::vector<UniqueFd> FilesToMove(pid_t tid, uint64_t number, const uint64_t* arguments);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_MOVED_FILE_H_
