// The controller as a process: command line, signals, files, errors of the disk, and what is always there.
#include <sys/resource.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "base/version.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "pyptox/v1/job.grpc.pb.h"
#include "pyptox/v1/server.grpc.pb.h"
#include "tests/integration/controller/controller_house.h"
#include "tests/integration/controller/scripted_agent.h"

namespace pyptox::controller {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// One message to a method and the first message of its answer, as bytes.
std::string RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                    const std::string& request) {
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  const auto call = grpc::GenericStub(channel).PrepareCall(&context, method, &queue);
  const auto wait = [&] {
    void* tag;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  EXPECT_TRUE(wait());
  const grpc::Slice slice(request);
  call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  EXPECT_TRUE(wait());
  grpc::ByteBuffer buffer;
  call->Read(&buffer, nullptr);
  EXPECT_TRUE(wait());
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(buffer.Dump(&slices).ok());
  std::string answer;
  for (const grpc::Slice& part : slices) answer.append(reinterpret_cast<const char*>(part.begin()), part.size());
  context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  wait();
  return answer;
}

TEST_F(ControllerTest, AnswersHealthReflectionAndInfo) {
  // HealthCheckResponse with status SERVING.
  EXPECT_EQ(RawCall(channel_, "/grpc.health.v1.Health/Check", ""), "\x08\x01");
  // ServerReflectionRequest with list_services.
  const std::string services =
      RawCall(channel_, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "\x3a\x01*");
  for (const char* name : {"Job", "Agent", "Resource", "Lock", "Artifact", "Record", "Matrix", "Server"}) {
    EXPECT_THAT(services, HasSubstr(std::string("pyptox.v1.") + name + "Service"));
  }
  EXPECT_THAT(services, HasSubstr("pyptox.v1.AgentLink"));
  v1::ServerInfo info;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::ServerService::NewStub(channel_)->GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(info.version(), kVersion);
  EXPECT_EQ(info.records(), 0u);
  EXPECT_EQ(info.head_sha256(), std::string(64, '0'));
  EXPECT_THAT(info.database_id(), testing::MatchesRegex("[0-9a-f]{32}"));
  const std::string id = info.database_id();
  Restart();
  grpc::ClientContext again;
  ASSERT_TRUE(v1::ServerService::NewStub(channel_)->GetServerInfo(&again, {}, &info).ok());
  EXPECT_EQ(info.database_id(), id);
}

TEST_F(ControllerTest, OneFolderHasOneController) {
  const ProgramResult second = RunController({"--data", folder_ / "data"});
  EXPECT_EQ(second.exit_code, kExitBusy);
  EXPECT_THAT(second.err, HasSubstr("another controller uses"));
  EXPECT_NE(SubmitSmall(), 0u) << "the first one is not disturbed";
}

TEST_F(ControllerTest, StopsCleanlyOnSigterm) {
  const uint64_t job = SubmitSmall();
  ScriptedAgent agent(controller_->Connect(), "host", 1);
  agent.WaitForAssign();
  EXPECT_EQ(controller_->Terminate(), kExitPass);
  EXPECT_FALSE(agent.End().ok());
  struct stat info;
  EXPECT_NE(stat((folder_ / "data/ready").c_str(), &info), 0);
  EXPECT_NE(stat((folder_ / "data/controller.sock").c_str(), &info), 0);
  Restart();
  EXPECT_EQ(Get(job).job().state(), v1::JOB_STATE_RUNNING);
}

TEST_F(ControllerTest, AnIoErrorStopsItBeforeItPromises) {
  UploadSmallTree(channel_);
  // No file may grow any more, so the next commit fails.
  const rlimit none{0, 0};
  ASSERT_EQ(prlimit(controller_->pid(), RLIMIT_FSIZE, &none, nullptr), 0);
  EXPECT_FALSE(SubmitStatus(SmallSubmit("")).ok());
  EXPECT_EQ(controller_->Wait(), kExitIo);
  Restart();
  v1::ListJobsResponse jobs;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::JobService::NewStub(channel_)->ListJobs(&context, {}, &jobs).ok());
  EXPECT_EQ(jobs.jobs_size(), 0);
}

TEST_F(ControllerTest, KeepsItsFilesPrivate) {
  SubmitSmall();
  for (const std::string& name : folder_.List()) {
    EXPECT_EQ(folder_.Mode(name) & 077, 0) << name;
  }
}

TEST_F(ControllerTest, AnAlteredRecordIsFoundAtTheNextStart) {
  const uint64_t job = SubmitSmall();
  {
    ScriptedAgent agent(controller_->Connect(), "host", 1);
    const v1::Assign assign = agent.WaitForAssign();
    agent.Finished(assign, PassingEvidence(assign.spec()));
    WaitUntilDone(job);
  }
  EXPECT_EQ(controller_->Terminate(), 0);
  const std::string sql = "update t_record set json = cast(replace(cast(json as text), 'tester', 'Tester') as blob)";
  ASSERT_EQ(system(("sqlite3 " + (folder_ / "data/pyptox.db") + " \"" + sql + "\"").c_str()), 0);
  const ProgramResult result = RunController({"--data", folder_ / "data"});
  EXPECT_EQ(result.exit_code, kExitData);
  EXPECT_THAT(result.err, HasSubstr("record 1"));
}

TEST(ControllerCommandLine, RefusesWhatItDoesNotKnow) {
  TempFolder folder;
  EXPECT_EQ(RunController({"--data", folder.path(), "--colour"}).exit_code, kExitUsage);
  EXPECT_EQ(RunController({"--data", folder.path(), "stray"}).exit_code, kExitUsage);
  EXPECT_EQ(RunController({}).exit_code, kExitUsage);
  EXPECT_EQ(RunController({"--help"}).exit_code, kExitPass);
  EXPECT_EQ(RunController({"--version"}).exit_code, kExitPass);
  const ProgramResult open = RunController({"--data", folder.path(), "--listen", "0.0.0.0:0"});
  EXPECT_EQ(open.exit_code, kExitUsage);
  EXPECT_THAT(open.err, HasSubstr("only the loopback interface"));
  EXPECT_THAT(folder.List(), IsEmpty());
}

TEST(ControllerCommandLine, EndsWithItsParent) {
  TempFolder folder;
  EXPECT_TRUE(ControllerEndsWithParent(folder / "data"));
  EXPECT_TRUE(ControllerProcess(folder / "data").serving()) << "the folder is free again";
}

TEST(ControllerCommandLine, ListensOnLoopbackTcp) {
  TempFolder folder;
  const ControllerProcess controller(folder / "data",
                                     {"--listen", "127.0.0.1:0", "--listen", "unix:" + (folder / "s")});
  ASSERT_THAT(controller.addresses(), SizeIs(2));
  EXPECT_THAT(controller.addresses()[0], testing::MatchesRegex("127.0.0.1:[1-9][0-9]*"));
  v1::ServerInfo info;
  grpc::ClientContext context;
  EXPECT_TRUE(v1::ServerService::NewStub(controller.Connect())->GetServerInfo(&context, {}, &info).ok());
  EXPECT_EQ(RunController({"--data", folder / "other", "--listen", controller.addresses()[0]}).exit_code,
            kExitUnavailable);
}

}  // namespace
}  // namespace pyptox::controller
