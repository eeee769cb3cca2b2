// Files of an attempt that are kept: into the blob store, and into the evidence's list.
#ifndef PYPTOX_AGENT_STEPS_ARTIFACT_KEEPER_H_
#define PYPTOX_AGENT_STEPS_ARTIFACT_KEEPER_H_

#include <optional>
#include <string>
#include <vector>

#include "agent/steps/attempt_context.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Largest file that is kept, bytes.
inline constexpr uint64_t kMaxArtifactBytes = uint64_t{1} << 30;

// Keeps these files of the attempt's folder, by the names they have there. One that is missing, no regular file or too
// large is left out with a line in the log; one that is kept already is not kept twice. INFRA(disk_full) when there is
// no room.
std::optional<v1::Outcome> KeepFiles(AttemptContext& context, const std::vector<std::string>& names);

// The same for the files beneath a folder, at most `limit`; how many it leaves out is a line in the log.
std::optional<v1::Outcome> KeepFolder(AttemptContext& context, const std::string& folder, size_t limit);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_ARTIFACT_KEEPER_H_
