#include "controller/rpc/submit_check.h"

#include <stdlib.h>

#include <string>

#include "base/file_io.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

using testing::HasSubstr;

class SubmitCheckTest : public testing::Test {
 protected:
  SubmitCheckTest() {
    char name[] = "/tmp/pyptox-submit-check-XXXXXX";
    folder_ = mkdtemp(name);
    blobs_ = *BlobStore::Open(folder_);
  }
  ~SubmitCheckTest() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }
  std::string Fault(const v1::SubmitRequest& request, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    const absl::Status status = CheckSubmit(request, *blobs_);
    EXPECT_EQ(status.code(), code) << status;
    return std::string(status.message());
  }
  void AddFile(v1::SubmitRequest& request, const std::string& name, const std::string& sha256) {
    v1::FileEntry* file = request.mutable_tree()->add_files();
    file->set_name(name);
    file->set_sha256(sha256);
  }

  std::string folder_;
  std::unique_ptr<BlobStore> blobs_;
};

TEST_F(SubmitCheckTest, NamesEveryFaultAtOnce) {
  v1::SubmitRequest request;
  request.set_priority(101);
  request.set_max_attempts(11);
  request.set_idempotency_key(std::string(256, 'k'));
  AddFile(request, "../x", std::string(64, '0'));
  AddFile(request, "b", "zz");
  AddFile(request, "b", std::string(64, '0'));
  AddFile(request, "a", std::string(64, '0'));
  const std::string faults = Fault(request);
  for (const char* part :
       {"priority: 101", "max_attempts: 11", "idempotency_key: 256", "tree.files[0].name", "tree.files[1].sha256",
        "tree.files[2].name: `b` does not sort after `b`", "tree.files[3].name: `a` does not sort after `b`"}) {
    EXPECT_THAT(faults, HasSubstr(part));
  }
}

}  // namespace
}  // namespace pyptox::controller
