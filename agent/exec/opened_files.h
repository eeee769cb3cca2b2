// Collects what one process tree opens, out of the kernel's own links under /proc. Used by the tracing thread only,
// while the process in question is stopped.
//
// An input is a regular file opened for reading, executed, or given another name by link or rename; also a folder that
// is renamed, without a digest. Not inputs: folders, devices, /proc, /sys and /dev, files opened for writing only, and
// files that this tree itself created or emptied (a compiler's temporaries).
#ifndef PYPTOX_AGENT_EXEC_OPENED_FILES_H_
#define PYPTOX_AGENT_EXEC_OPENED_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "agent/exec/file_digests.h"
#include "agent/exec/process_outcome.h"

namespace pyptox::agent {

class OpenedFiles {
 public:
  // `digests` is not owned.
  explicit OpenedFiles(FileDigests* digests) : digests_(digests) {}

  // Thread `tid` opened descriptor `fd` with open(2) `flags`.
  void Opened(pid_t tid, int fd, uint64_t flags);
  // `file`, open with O_PATH, is about to get another name.
  void Moved(int file);
  // An open or move that can't be told: by a call of a 32-bit program.
  void Unknown() { ++unresolved_; }
  // Process `pid` has just executed a new program.
  void Executed(pid_t pid);

  std::vector<OpenedInput> Take() { return std::move(inputs_); }
  uint64_t unresolved() const { return unresolved_; }

 private:
  void Add(const std::string& link, const std::string& path, bool executed);
  // The program and its loader, as mapped.
  void AddMapped(pid_t pid, const std::string& program);

  FileDigests* const digests_;
  std::vector<OpenedInput> inputs_;
  std::set<std::tuple<std::string, std::string, bool>> seen_;
  std::set<std::pair<dev_t, ino_t>> own_;
  uint64_t unresolved_ = 0;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_EXEC_OPENED_FILES_H_
