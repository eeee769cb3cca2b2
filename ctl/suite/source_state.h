// Which commit the declared sources are, by asking git.
#ifndef PYPTOX_CTL_SUITE_SOURCE_STATE_H_
#define PYPTOX_CTL_SUITE_SOURCE_STATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/source.pb.h"

namespace pyptox::ctl {

struct CapturedSource {
  v1::SourceState state;
  // Why the sources are no clean commit, one sentence; empty when they are one.
  std::string fault;
};

// Outside a repository, or without git or a commit: no head, and dirty. Dirty when a file of the tree, or one of `also`
// (the suite's own files, relative to the folder), is not in HEAD or differs from it in contents or mode: by the files'
// own bytes (through the repository's filters), whatever the index says. Other files of the repository do not count,
// they do not travel.
absl::StatusOr<CapturedSource> CaptureSource(const std::string& folder, const v1::Tree& tree,
                                             const std::vector<std::string>& also = {});

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_SUITE_SOURCE_STATE_H_
