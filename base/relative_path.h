// Names from peers and suite files are data: this says which are harmless.
#ifndef PYPTOX_BASE_RELATIVE_PATH_H_
#define PYPTOX_BASE_RELATIVE_PATH_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace pyptox {

// OK for a relative path with '/', valid UTF-8, no NUL or control character, no empty, `.` or `..` part, parts at most
// 255 bytes, at most 4096 bytes in all. INVALID_ARGUMENT otherwise, with the path escaped.
absl::Status CheckRelativePath(std::string_view path);

// OK for 1 to 255 of [A-Za-z0-9._-], not starting with '.' or '-'.
absl::Status CheckName(std::string_view name);

// `*` and `?` within a part, `**` for any number of parts.
bool GlobMatches(std::string_view glob, std::string_view path);

// Opens `path` beneath the folder `root_fd` with open(2) flags and mode, part by part with O_NOFOLLOW, so that no
// symbolic link is followed anywhere; FAILED_PRECONDITION for one. Makes missing parent folders (0700) when flags has
// O_CREAT. Add O_NONBLOCK where the file could be a fifo that somebody else made.
absl::StatusOr<UniqueFd> OpenBeneath(int root_fd, const std::string& path, int flags, int mode = 0600);

}  // namespace pyptox

#endif  // PYPTOX_BASE_RELATIVE_PATH_H_
