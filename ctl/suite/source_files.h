// Walks a suite's folder for the files that its globs declare, and hashes them.
#ifndef PYPTOX_CTL_SUITE_SOURCE_FILES_H_
#define PYPTOX_CTL_SUITE_SOURCE_FILES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::ctl {

// What told the versions of a file apart without reading it.
struct FileStamp {
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

struct SourceFiles {
  v1::Tree tree;
  // Local path of each digest.
  std::map<std::string, std::string> paths;
  // By local path, as the files were while they were hashed.
  std::map<std::string, FileStamp> stamps;
  // Path in the suite and text.
  std::vector<std::pair<std::string, std::string>> faults;
};

// Regular files only; a link or a special file that a glob matches is a fault, and so is a glob that matches nothing
// and a file that changes while it is read. `.git` is never looked into. The golden lock is taken along when it is
// there.
SourceFiles CollectSources(const std::string& folder, const v1::Suite& suite);

// ABORTED names a file that is not as it was when it was hashed: what git says of it now is about something else.
absl::Status CheckUnchanged(const std::map<std::string, FileStamp>& stamps);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_SUITE_SOURCE_FILES_H_
