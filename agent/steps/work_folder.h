// The private folder of one attempt: WORK_ROOT/attempts/ID with src, build, artifacts, log, tmp and kernel in it. Names
// from suites and from steps are data: everything is reached beneath the folder, and no link is followed.
#ifndef PYPTOX_AGENT_STEPS_WORK_FOLDER_H_
#define PYPTOX_AGENT_STEPS_WORK_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace pyptox::agent {

class WorkFolder {
 public:
  // Removes what an older life left under this id. Mode 0700.
  static absl::StatusOr<WorkFolder> Create(const std::string& work_root, uint64_t attempt);

  // Absolute, without a slash at its end.
  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  // A file that a step made or the tree brought.
  struct File {
    // Open for reading.
    UniqueFd fd;
    uint64_t size = 0;
    bool executable = false;
    // /proc/self/fd/N: a path to exactly this file, valid while `fd` is open.
    std::string Link() const;
  };
  // NOT_FOUND; FAILED_PRECONDITION when it is no regular file or a link is on the way.
  absl::StatusOr<File> Open(const std::string& name) const;
  // At most `bytes` from its start.
  absl::StatusOr<std::string> ReadStart(const File& file, size_t bytes) const;
  // Whether anything has this name.
  bool Exists(const std::string& name) const;
  // Whole contents; OUT_OF_RANGE above `max_bytes`.
  absl::StatusOr<std::string> Read(const std::string& name, uint64_t max_bytes) const;
  // A new file.
  absl::Status Write(const std::string& name, std::string_view data) const;
  // A new folder whose parent is there.
  absl::Status MakeFolder(const std::string& name) const;
  absl::Status RemoveFolder(const std::string& name) const;
  struct Listing {
    // Of regular files, in order, at most as many as asked for.
    std::vector<std::string> names;
    // Files past that, links and other kinds, names that are no paths (CheckRelativePath), folders that are too deep.
    uint64_t left_out = 0;
  };
  Listing FilesBeneath(const std::string& name, size_t limit) const;

 private:
  WorkFolder(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  std::string path_;
  UniqueFd fd_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_WORK_FOLDER_H_
