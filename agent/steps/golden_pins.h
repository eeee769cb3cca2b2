// The pinned digests of golden files: what sha256sum writes, one `DIGEST  NAME` a line, made by `pyptox-ctl suite pin`.
// Pure.
#ifndef PYPTOX_AGENT_STEPS_GOLDEN_PINS_H_
#define PYPTOX_AGENT_STEPS_GOLDEN_PINS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace pyptox::agent {

class GoldenPins {
 public:
  // INVALID_ARGUMENT with file and line for a line of another form or a name that is pinned twice.
  static absl::StatusOr<GoldenPins> Parse(std::string_view text, std::string_view file);

  // Empty when the file is pinned to this digest, else one sentence.
  std::string FaultOf(const std::string& name, const std::string& sha256) const;

 private:
  std::map<std::string, std::string, std::less<>> pins_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_GOLDEN_PINS_H_
