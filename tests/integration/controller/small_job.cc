#include "tests/integration/controller/small_job.h"

#include <map>

#include "base/link_settings.h"
#include "base/sha256.h"
#include "gtest/gtest.h"
#include "matrix/tree_digest.h"
#include "pyptox/v1/artifact.grpc.pb.h"

namespace pyptox::controller {
namespace {

const std::string kGolden(16, '\0');

// Name to contents, in the order of a tree.
const std::map<std::string, std::string>& Sources() {
  static const std::map<std::string, std::string> sources = {
      {"golden.sha256", Sha256Of(kGolden).Hex() + "  golden/y.bin\n"},
      {"golden/y.bin", kGolden},
      {"kernels.c", "int zeros;\n"},
  };
  return sources;
}

v1::Buffer MakeBuffer(const std::string& name, v1::Role role) {
  v1::Buffer buffer;
  buffer.set_name(name);
  buffer.set_role(role);
  buffer.set_dtype(v1::DTYPE_F32);
  buffer.add_shape(4);
  return buffer;
}

v1::Suite SmallSuite() {
  v1::Suite suite;
  suite.set_name("small");
  suite.mutable_contract()->set_name("zeros");
  suite.mutable_contract()->set_version("1");
  for (const auto& [name, data] : Sources()) suite.add_sources(name);
  v1::Lane* lane = suite.add_lanes();
  lane->set_name("cpu-scalar@dev");
  lane->set_target("cpu-scalar");
  lane->mutable_resource()->set_name("dev");
  v1::CompileStep* compile = lane->add_compile();
  for (const char* word : {"cc", "-shared", "-o", "build/k.so", "src/kernels.c"}) compile->add_argv(word);
  compile->add_outputs("build/k.so");
  lane->mutable_kernel()->set_module("build/k.so");
  v1::Case* added = suite.add_cases();
  added->set_name("zeros");
  added->set_kernel("zeros");
  v1::Buffer* x = added->add_buffers();
  *x = MakeBuffer("x", v1::ROLE_IN);
  x->mutable_generate()->set_kind(v1::GENERATE_KIND_ZERO);
  v1::Buffer* y = added->add_buffers();
  *y = MakeBuffer("y", v1::ROLE_OUT);
  y->mutable_golden()->set_path("golden/y.bin");
  suite.set_planned(1);
  suite.set_golden_lock("golden.sha256");
  return suite;
}

}  // namespace

grpc::Status Upload(const std::shared_ptr<grpc::Channel>& channel, const std::string& data) {
  grpc::ClientContext context;
  v1::UploadResponse response;
  const auto writer = v1::ArtifactService::NewStub(channel)->Upload(&context, &response);
  v1::UploadRequest request;
  request.set_sha256(Sha256Of(data).Hex());
  request.set_size(data.size());
  for (size_t at = 0; at < data.size() || at == 0; at += kMaxChunkBytes) {
    request.set_chunk(data.substr(at, kMaxChunkBytes));
    if (!writer->Write(request)) break;
    request.Clear();
  }
  writer->WritesDone();
  return writer->Finish();
}

v1::SubmitRequest SmallSubmit(const std::string& idempotency_key) {
  v1::SubmitRequest request;
  *request.mutable_suite() = SmallSuite();
  request.set_idempotency_key(idempotency_key);
  request.set_submitter("tester");
  for (const auto& [name, data] : Sources()) {
    v1::FileEntry* file = request.mutable_tree()->add_files();
    file->set_name(name);
    file->set_size(data.size());
    file->set_sha256(Sha256Of(data).Hex());
  }
  request.mutable_source()->set_tree_sha256(matrix::TreeSha256(request.tree()));
  request.mutable_source()->set_repository("example");
  request.mutable_source()->set_head("0123456789abcdef0123456789abcdef01234567");
  return request;
}

void UploadSmallTree(const std::shared_ptr<grpc::Channel>& channel) {
  for (const auto& [name, data] : Sources()) {
    const grpc::Status status = Upload(channel, data);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
}

v1::Evidence PassingEvidence(const v1::JobSpec& spec) {
  v1::Evidence evidence;
  evidence.mutable_outcome()->set_verdict(v1::VERDICT_PASS);
  evidence.set_evidence_class(v1::EVIDENCE_CLASS_NATIVE);
  for (const v1::Case& planned : spec.suite().cases()) {
    v1::CaseResult* result = evidence.add_cases();
    result->set_name(planned.name());
    result->set_outcome(v1::CASE_OUTCOME_PASS);
    result->add_golden_sha256(Sha256Of(kGolden).Hex());
  }
  evidence.set_cleanup("ptrace");
  evidence.set_file_access("ptrace");
  evidence.set_agent_version("test");
  return evidence;
}

}  // namespace pyptox::controller
