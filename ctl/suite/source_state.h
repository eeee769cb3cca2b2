// Which commit the declared sources are, by asking git.
#ifndef PYPTOX_CTL_SUITE_SOURCE_STATE_H_
#define PYPTOX_CTL_SUITE_SOURCE_STATE_H_

#include <string>

#include "absl/status/statusor.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/source.pb.h"

namespace pyptox::ctl {

// Outside a repository, or without git or a commit: no head, and dirty. Dirty when a file of the tree is not tracked or
// differs from HEAD in contents or mode; other files of the repository do not count, they do not travel.
absl::StatusOr<v1::SourceState> CaptureSource(const std::string& folder, const v1::Tree& tree);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_SUITE_SOURCE_STATE_H_
