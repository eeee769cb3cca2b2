#include "controller/rpc/submit_check.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/relative_path.h"

namespace pyptox::controller {
namespace {

constexpr size_t kMaxIdempotencyKeyBytes = 255;
constexpr int32_t kMaxPriority = 100;
constexpr uint32_t kMaxAttempts = 10;

void CheckTree(const v1::Tree& tree, std::vector<std::string>& faults) {
  std::string previous;
  for (int i = 0; i < tree.files_size(); ++i) {
    const v1::FileEntry& file = tree.files(i);
    const std::string where = absl::StrCat("tree.files[", i, "]");
    if (auto status = CheckRelativePath(file.name()); !status.ok()) {
      faults.push_back(absl::StrCat(where, ".name: ", status.message()));
    } else if (i > 0 && file.name() <= previous) {
      faults.push_back(absl::StrCat(where, ".name: `", file.name(), "` does not sort after `", previous, "`"));
    }
    if (auto digest = Digest::FromHex(file.sha256()); !digest.ok()) {
      faults.push_back(absl::StrCat(where, ".sha256: ", digest.status().message()));
    }
    previous = file.name();
  }
}

void CheckScalars(const v1::SubmitRequest& request, std::vector<std::string>& faults) {
  if (request.ByteSizeLong() > kMaxSubmitBytes) {
    faults.push_back(
        absl::StrCat("submission: ", request.ByteSizeLong(), " bytes; at most ", kMaxSubmitBytes, " are allowed"));
  }
  if (request.idempotency_key().size() > kMaxIdempotencyKeyBytes) {
    faults.push_back(absl::StrCat("idempotency_key: ", request.idempotency_key().size(), " bytes; at most ",
                                  kMaxIdempotencyKeyBytes, " are allowed"));
  }
  if (request.priority() < -kMaxPriority || request.priority() > kMaxPriority) {
    faults.push_back(absl::StrCat("priority: ", request.priority(), " is not within -100 to 100"));
  }
  if (request.max_attempts() > kMaxAttempts) {
    faults.push_back(absl::StrCat("max_attempts: ", request.max_attempts(), " is more than ", kMaxAttempts));
  }
}

}  // namespace

absl::Status CheckSubmit(const v1::SubmitRequest& request, const BlobStore& blobs) {
  std::vector<std::string> faults;
  CheckScalars(request, faults);
  CheckTree(request.tree(), faults);
  if (!faults.empty()) return absl::InvalidArgumentError(absl::StrJoin(faults, "\n"));
  for (const v1::FileEntry& file : request.tree().files()) {
    if (!blobs.Contains(*Digest::FromHex(file.sha256()))) {
      return absl::FailedPreconditionError(
          absl::StrCat("artifact ", file.sha256(), " of `", file.name(), "` has not been uploaded"));
    }
  }
  return absl::OkStatus();
}

}  // namespace pyptox::controller
