// Measures a tool: which binary a name really means, what it says of itself, and its digest. A label is never believed.
#ifndef PYPTOX_AGENT_PROBE_TOOLCHAIN_H_
#define PYPTOX_AGENT_PROBE_TOOLCHAIN_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Runs a short command and returns its standard output and error; the caller bounds its time and output.
using RunTool = std::function<absl::StatusOr<std::string>(const std::vector<std::string>& argv)>;

// Finds `name` as execvp would with `path` as PATH; a name with '/' is taken relative to `folder`. Returns an absolute
// path, links not resolved. NOT_FOUND with both names when there is no executable regular file.
absl::StatusOr<std::string> FindProgram(std::string_view name, std::string_view path, const std::string& folder);

// Measures the tool. The version line comes from `PROGRAM --version`; a tool that has none gives `unknown`.
absl::StatusOr<v1::Toolchain> MeasureToolchain(std::string_view name, std::string_view path, const std::string& folder,
                                               const RunTool& run);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_PROBE_TOOLCHAIN_H_
