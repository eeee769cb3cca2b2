#include "controller/rpc/submit_check.h"

#include <stdlib.h>

#include <string>

#include "base/file_io.h"
#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "matrix/tree_digest.h"

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
  // A case that must refuse its input, so that no golden is needed.
  v1::SubmitRequest GoodRequest() {
    v1::SubmitRequest request;
    v1::FileEntry* file = request.mutable_tree()->add_files();
    file->set_name("kernels.c");
    file->set_size(6);
    file->set_sha256(Sha256Of("int x;").Hex());
    request.mutable_source()->set_tree_sha256(matrix::TreeSha256(request.tree()));
    v1::Suite* suite = request.mutable_suite();
    suite->set_name("s");
    suite->mutable_contract()->set_name("c");
    suite->mutable_contract()->set_version("1");
    suite->add_sources("kernels.c");
    suite->set_planned(1);
    v1::Lane* lane = suite->add_lanes();
    lane->set_name("cpu-scalar@dev");
    lane->set_target("cpu-scalar");
    lane->mutable_resource()->set_name("dev");
    lane->mutable_kernel()->set_module("build/k.so");
    v1::CompileStep* compile = lane->add_compile();
    compile->add_argv("cc");
    compile->add_outputs("build/k.so");
    v1::Case* added = suite->add_cases();
    added->set_name("refused");
    added->set_kernel("k");
    added->set_expect_status(1);
    v1::Buffer* buffer = added->add_buffers();
    buffer->set_name("x");
    buffer->set_role(v1::ROLE_IN);
    buffer->set_dtype(v1::DTYPE_F32);
    buffer->mutable_generate()->set_kind(v1::GENERATE_KIND_ZERO);
    buffer = added->add_buffers();
    buffer->set_name("y");
    buffer->set_role(v1::ROLE_OUT);
    buffer->set_dtype(v1::DTYPE_F32);
    return request;
  }

  std::string folder_;
  std::unique_ptr<BlobStore> blobs_;
};

TEST_F(SubmitCheckTest, NamesEveryFaultAtOnce) {
  v1::SubmitRequest request = GoodRequest();
  request.mutable_suite()->set_planned(7);
  request.mutable_suite()->mutable_cases(0)->set_kernel("");
  request.mutable_source()->set_tree_sha256(std::string(64, '0'));
  request.set_submitter(std::string(kMaxSubmitBytes, 'x'));
  const std::string faults = Fault(request);
  for (const char* part :
       {"at most 2097152 are allowed", "suite.planned", "suite.cases[0].kernel", "source.tree_sha256"}) {
    EXPECT_THAT(faults, HasSubstr(part));
  }
}

TEST_F(SubmitCheckTest, RefusesATreeThatIsNotOne) {
  v1::SubmitRequest request = GoodRequest();
  request.mutable_tree()->mutable_files(0)->set_name("../x");
  EXPECT_THAT(Fault(request), HasSubstr("tree: "));
  request = GoodRequest();
  *request.mutable_tree()->add_files() = request.tree().files(0);
  EXPECT_THAT(Fault(request), HasSubstr("tree: "));
}

TEST_F(SubmitCheckTest, WantsEveryArtifact) {
  EXPECT_THAT(Fault(GoodRequest(), absl::StatusCode::kFailedPrecondition),
              HasSubstr("of `kernels.c` has not been uploaded"));
  ASSERT_TRUE(blobs_->Put("int x;").ok());
  EXPECT_TRUE(CheckSubmit(GoodRequest(), *blobs_).ok());
}

}  // namespace
}  // namespace pyptox::controller
