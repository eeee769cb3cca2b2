#include "agent/steps/source_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/file_io.h"
#include "base/relative_path.h"
#include "base/sha256.h"
#include "matrix/tree_digest.h"

namespace pyptox::agent {
namespace {

constexpr uint64_t kMaxPinBytes = 16 << 20;
constexpr size_t kReadBytes = 1 << 18;

absl::StatusOr<std::string> HashRegion(int fd, uint64_t offset, uint64_t bytes, const std::string& name) {
  Sha256 hash;
  std::vector<char> buffer(std::min<uint64_t>(bytes, kReadBytes));
  for (uint64_t done = 0; done < bytes;) {
    const size_t want = std::min<uint64_t>(buffer.size(), bytes - done);
    const ssize_t count = pread(fd, buffer.data(), want, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, name);
    if (count == 0) return absl::OutOfRangeError(fmt::format("{} ends before byte {}", name, offset + bytes));
    hash.Update(std::string_view(buffer.data(), static_cast<size_t>(count)));
    done += static_cast<uint64_t>(count);
  }
  return hash.Finish().Hex();
}

}  // namespace

absl::StatusOr<SourceFiles> SourceFiles::Materialise(AttemptContext& context) {
  const v1::Tree& tree = context.assign.spec().tree();
  absl::Status status = matrix::CheckTree(tree);
  if (!status.ok()) return status;
  const auto stop = [&context] { return context.Interrupted().has_value(); };
  status = context.settings.fetch({tree.files().begin(), tree.files().end()}, stop);
  if (!status.ok()) return status;

  absl::StatusOr<UniqueFd> src = OpenBeneath(context.folder.fd(), "src", O_RDONLY | O_DIRECTORY);
  if (!src.ok()) return src.status();
  SourceFiles sources;
  for (const v1::FileEntry& file : tree.files()) {
    if (stop()) return absl::CancelledError("the attempt is ended");
    const absl::StatusOr<Digest> digest = Digest::FromHex(file.sha256());
    if (!digest.ok()) return digest.status();
    const int mode = file.executable() ? 0700 : 0600;
    status = context.settings.blobs->CopyTo(*digest, src->get(), file.name(), mode);
    if (absl::IsDataLoss(status) || absl::IsNotFound(status)) {
      // The cached blob went bad, or was collected just now: once more from the controller.
      status = context.settings.fetch({file}, stop);
      if (status.ok()) status = context.settings.blobs->CopyTo(*digest, src->get(), file.name(), mode);
    }
    if (!status.ok()) return status;
    sources.files_.emplace(file.name(), file);
  }
  status = sources.ReadPins(context);
  if (!status.ok()) return status;
  return sources;
}

absl::Status SourceFiles::ReadPins(AttemptContext& context) {
  const std::string& name = context.suite().golden_lock();
  const auto at = files_.find(name);
  if (at == files_.end()) {
    no_pins_ = name.empty() ? "the suite names no `golden_lock`" : fmt::format("{} is not among the sources", name);
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> text = context.folder.Read("src/" + name, kMaxPinBytes);
  if (!text.ok()) return text.status();
  absl::StatusOr<GoldenPins> pins = GoldenPins::Parse(*text, name);
  if (pins.ok()) {
    pins_ = *std::move(pins);
  } else {
    no_pins_ = std::string(pins.status().message());
  }
  return absl::OkStatus();
}

std::string SourceFiles::DigestOf(const std::string& name) const {
  const auto at = files_.find(name);
  return at == files_.end() ? "" : at->second.sha256();
}

uint64_t SourceFiles::SizeOf(const std::string& name) const {
  const auto at = files_.find(name);
  return at == files_.end() ? 0 : at->second.size();
}

absl::Status SourceFiles::CheckUnchanged(AttemptContext& context, const std::string& name) const {
  const auto at = files_.find(name);
  if (at == files_.end()) return absl::FailedPreconditionError(fmt::format("{} is not among the sources", name));
  const absl::StatusOr<WorkFolder::File> file = context.folder.Open("src/" + name);
  if (!file.ok()) return absl::FailedPreconditionError(std::string(file.status().message()));
  // Only a file of the declared length is worth its reading.
  if (file->size == at->second.size()) {
    const absl::StatusOr<FileDigests::Value> value = context.settings.digests->Of(file->Link());
    if (!value.ok()) return value.status();
    if (value->digest.Hex() == at->second.sha256()) return absl::OkStatus();
  }
  return absl::FailedPreconditionError(fmt::format("{} was changed by a step", name));
}

absl::StatusOr<std::string> SourceFiles::RegionDigest(AttemptContext& context, const v1::FileRegion& region,
                                                      uint64_t bytes) const {
  absl::Status status = CheckUnchanged(context, region.path());
  if (!status.ok()) return status;
  const v1::FileEntry& entry = files_.at(region.path());
  if (region.offset() > entry.size() || bytes > entry.size() - region.offset() ||
      (!region.packed() && region.offset() + bytes != entry.size())) {
    return absl::OutOfRangeError(
        fmt::format("{} has {} bytes, wanted are {} from {} on", region.path(), entry.size(), bytes, region.offset()));
  }
  if (region.offset() == 0 && bytes == entry.size()) return entry.sha256();
  const absl::StatusOr<WorkFolder::File> file = context.folder.Open("src/" + region.path());
  if (!file.ok()) return file.status();
  return HashRegion(file->fd.get(), region.offset(), bytes, region.path());
}

std::string SourceFiles::PinFault(const std::string& name) const {
  return no_pins_.empty() ? pins_.FaultOf(name, DigestOf(name)) : fmt::format("{} is not pinned: {}", name, no_pins_);
}

}  // namespace pyptox::agent
