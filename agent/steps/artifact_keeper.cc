#include "agent/steps/artifact_keeper.h"

#include <fmt/format.h>

#include <algorithm>

namespace pyptox::agent {

std::optional<v1::Outcome> KeepFiles(AttemptContext& context, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto& kept = context.evidence.artifacts();
    if (std::any_of(kept.begin(), kept.end(), [&](const v1::FileEntry& file) { return file.name() == name; })) continue;
    const absl::StatusOr<WorkFolder::File> file = context.folder.Open(name);
    if (!file.ok()) {
      context.Note(fmt::format("{} is not kept: {}", name, std::string(file.status().message())));
      continue;
    }
    if (file->size > kMaxArtifactBytes) {
      context.Note(fmt::format("{} is not kept: it has {} bytes", name, file->size));
      continue;
    }
    uint64_t size = 0;
    const absl::StatusOr<Digest> digest = context.settings.blobs->PutFile(file->Link(), &size);
    if (absl::IsResourceExhausted(digest.status())) return InfraOutcome("artifact", digest.status());
    if (!digest.ok()) {
      context.Note(fmt::format("{} is not kept: {}", name, std::string(digest.status().message())));
      continue;
    }
    v1::FileEntry* entry = context.evidence.add_artifacts();
    entry->set_name(name);
    entry->set_executable(file->executable);
    entry->set_size(size);
    entry->set_sha256(digest->Hex());
  }
  return std::nullopt;
}

std::optional<v1::Outcome> KeepFolder(AttemptContext& context, const std::string& folder, size_t limit) {
  const WorkFolder::Listing listing = context.folder.FilesBeneath(folder, limit);
  if (listing.left_out > 0) {
    context.Note(fmt::format("{} files below {} are not kept: links, names that are not UTF-8, or more than {}",
                             listing.left_out, folder, limit));
  }
  return KeepFiles(context, listing.names);
}

}  // namespace pyptox::agent
