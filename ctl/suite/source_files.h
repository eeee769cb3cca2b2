// Walks a suite's folder for the files that its globs declare, and hashes them.
#ifndef PYPTOX_CTL_SUITE_SOURCE_FILES_H_
#define PYPTOX_CTL_SUITE_SOURCE_FILES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::ctl {

struct SourceFiles {
  v1::Tree tree;
  // Local path of each digest.
  std::map<std::string, std::string> paths;
  // Path in the suite and text.
  std::vector<std::pair<std::string, std::string>> faults;
};

// Regular files only; a link or a special file that a glob matches is a fault, and so is a glob that matches nothing
// and a file that changes while it is read. `.git` is never looked into. The golden lock is taken along when it is
// there.
SourceFiles CollectSources(const std::string& folder, const v1::Suite& suite);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_SUITE_SOURCE_FILES_H_
