#include "controller/rpc/submit_check.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/sha256.h"
#include "matrix/suite_check.h"
#include "matrix/tree_digest.h"

namespace pyptox::controller {
namespace {

void CheckTree(const v1::SubmitRequest& request, std::vector<std::string>& faults) {
  if (auto status = matrix::CheckTree(request.tree()); !status.ok()) {
    faults.push_back(absl::StrCat("tree: ", status.message()));
  } else if (matrix::TreeSha256(request.tree()) != request.source().tree_sha256()) {
    faults.push_back(absl::StrCat("source.tree_sha256: `", request.source().tree_sha256(),
                                  "` is not the tree's digest ", matrix::TreeSha256(request.tree())));
  }
}

}  // namespace

absl::Status CheckSubmit(const v1::SubmitRequest& request, const BlobStore& blobs) {
  std::vector<std::string> faults;
  if (request.ByteSizeLong() > kMaxSubmitBytes) {
    faults.push_back(
        absl::StrCat("submission: ", request.ByteSizeLong(), " bytes; at most ", kMaxSubmitBytes, " are allowed"));
  }
  for (const matrix::SuiteFault& fault : matrix::CheckSuite(request.suite())) {
    faults.push_back(absl::StrCat("suite.", fault.path, ": ", fault.text));
  }
  CheckTree(request, faults);
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
