// The declared sources as they must still be while steps run: what a step changed in src/ proves nothing.
#ifndef PYPTOX_AGENT_STEPS_SOURCE_FILES_H_
#define PYPTOX_AGENT_STEPS_SOURCE_FILES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/steps/attempt_context.h"
#include "agent/steps/golden_pins.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::agent {

class SourceFiles {
 public:
  // Puts every file of the tree at src/NAME, each verified against its digest. INVALID_ARGUMENT for a tree that is
  // none; RESOURCE_EXHAUSTED when the disk is full; CANCELLED when the attempt is ended.
  static absl::StatusOr<SourceFiles> Materialise(AttemptContext& context);

  // Digest of a source as declared; empty when the tree has no such file.
  std::string DigestOf(const std::string& name) const;
  // Its size in bytes as declared; 0 when the tree has no such file.
  uint64_t SizeOf(const std::string& name) const;

  // SHA-256 of the bytes that a buffer of `bytes` must have, out of a file that is still as declared.
  // FAILED_PRECONDITION when the file was changed since, or is not declared; OUT_OF_RANGE when it is too short or, not
  // packed, has another length.
  absl::StatusOr<std::string> RegionDigest(AttemptContext& context, const v1::FileRegion& region, uint64_t bytes) const;
  // The first half of that: OK when the file is still as declared.
  absl::Status CheckUnchanged(AttemptContext& context, const std::string& name) const;

  // Empty when the golden file is pinned to its digest, else one sentence.
  std::string PinFault(const std::string& name) const;

 private:
  absl::Status ReadPins(AttemptContext& context);

  std::map<std::string, v1::FileEntry> files_;
  GoldenPins pins_;
  // Why there are no pins.
  std::string no_pins_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_SOURCE_FILES_H_
