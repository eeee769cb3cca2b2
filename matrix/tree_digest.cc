#include "matrix/tree_digest.h"

#include <fmt/format.h>

#include <set>

#include "base/message_json.h"
#include "base/relative_path.h"
#include "base/sha256.h"

namespace pyptox::matrix {

absl::Status CheckTree(const v1::Tree& tree) {
  const std::string* previous = nullptr;
  for (const v1::FileEntry& file : tree.files()) {
    if (absl::Status status = CheckRelativePath(file.name()); !status.ok()) return status;
    if (absl::Status status = Digest::FromHex(file.sha256()).status(); !status.ok()) {
      return absl::InvalidArgumentError(fmt::format("tree file {}: {}", file.name(), std::string(status.message())));
    }
    if (previous != nullptr && *previous >= file.name()) {
      return absl::InvalidArgumentError(fmt::format("tree file {} is out of order or there twice", file.name()));
    }
    previous = &file.name();
  }
  return absl::OkStatus();
}

// Names in a checked tree are UTF-8, so the canonical form exists.
std::string TreeSha256(const v1::Tree& tree) { return Sha256Of(MessageToCanonicalJson(tree).value()).Hex(); }

std::string SuiteSha256(const v1::Suite& suite) { return Sha256Of(MessageToCanonicalJson(suite).value()).Hex(); }

std::string GoldenSha256(const v1::Suite& suite, const v1::Tree& tree) {
  std::set<std::string> wanted;
  for (const v1::Case& one : suite.cases()) {
    for (const v1::Buffer& buffer : one.buffers()) {
      if (buffer.has_golden()) wanted.insert(buffer.golden().path());
    }
  }
  for (const v1::Lane& lane : suite.lanes()) {
    for (const v1::CompareStep& compare : lane.run().compare()) wanted.insert(compare.golden());
  }
  if (!suite.golden_lock().empty()) wanted.insert(suite.golden_lock());
  std::string lines;
  for (const v1::FileEntry& file : tree.files()) {
    if (wanted.contains(file.name())) lines += fmt::format("{}  {}\n", file.sha256(), file.name());
  }
  return Sha256Of(lines).Hex();
}

}  // namespace pyptox::matrix
