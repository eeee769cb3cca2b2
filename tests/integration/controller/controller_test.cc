// The real controller over its socket, with scripted agents: one job from submit to matrix, and what may happen
// between.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <future>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "base/link_settings.h"
#include "base/sha256.h"
#include "base/version.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "gtest/gtest.h"
#include "pyptox/v1/artifact.grpc.pb.h"
#include "pyptox/v1/job.grpc.pb.h"
#include "pyptox/v1/lock.grpc.pb.h"
#include "pyptox/v1/matrix.grpc.pb.h"
#include "pyptox/v1/record.grpc.pb.h"
#include "pyptox/v1/resource.grpc.pb.h"
#include "pyptox/v1/server.grpc.pb.h"
#include "tests/integration/controller/controller_process.h"
#include "tests/integration/controller/scripted_agent.h"
#include "tests/integration/controller/small_job.h"
#include "tests/support/temp_folder.h"

namespace pyptox::controller {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ControllerTest : public testing::Test {
 protected:
  ControllerTest() { Restart(); }

  // Starts the controller on the test's folder, after ending the one before it with kill -9.
  void Restart() {
    controller_.reset();
    controller_ = std::make_unique<ControllerProcess>(folder_ / "data");
    ASSERT_TRUE(controller_->serving());
    channel_ = controller_->Connect();
  }

  v1::SubmitResponse Submit(const v1::SubmitRequest& request) {
    v1::SubmitResponse response;
    grpc::ClientContext context;
    const grpc::Status status = v1::JobService::NewStub(channel_)->Submit(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  grpc::Status SubmitStatus(const v1::SubmitRequest& request) {
    v1::SubmitResponse response;
    grpc::ClientContext context;
    return v1::JobService::NewStub(channel_)->Submit(&context, request, &response);
  }
  uint64_t SubmitSmall(const std::string& key = "") {
    UploadSmallTree(channel_);
    const v1::SubmitResponse response = Submit(SmallSubmit(key));
    return response.jobs_size() == 1 ? response.jobs(0).id() : 0;
  }
  v1::GetJobResponse Get(uint64_t id) {
    v1::GetJobRequest request;
    request.set_id(id);
    v1::GetJobResponse response;
    grpc::ClientContext context;
    const grpc::Status status = v1::JobService::NewStub(channel_)->GetJob(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  // Watches a job to its end and returns the states that were seen.
  v1::Job WaitUntilDone(uint64_t id) {
    v1::WatchJobRequest request;
    request.set_id(id);
    grpc::ClientContext context;
    const auto reader = v1::JobService::NewStub(channel_)->WatchJob(&context, request);
    v1::Job job;
    while (reader->Read(&job)) {
    }
    EXPECT_TRUE(reader->Finish().ok());
    return job;
  }
  std::string ReadLog(uint64_t job_id, bool follow) {
    v1::ReadLogRequest request;
    request.set_job_id(job_id);
    request.set_follow(follow);
    grpc::ClientContext context;
    const auto reader = v1::JobService::NewStub(channel_)->ReadLog(&context, request);
    std::string log;
    v1::ReadLogResponse response;
    while (reader->Read(&response)) {
      EXPECT_EQ(response.offset(), log.size());
      log += response.chunk();
    }
    EXPECT_TRUE(reader->Finish().ok());
    return log;
  }
  std::vector<v1::Cell> Matrix() {
    v1::ShowMatrixResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(v1::MatrixService::NewStub(channel_)->ShowMatrix(&context, {}, &response).ok());
    return {response.cells().begin(), response.cells().end()};
  }
  std::vector<v1::StoredRecord> Records() {
    v1::ListRecordsResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(v1::RecordService::NewStub(channel_)->ListRecords(&context, {}, &response).ok());
    return {response.records().begin(), response.records().end()};
  }
  std::vector<v1::Lease> Leases() {
    v1::ListLocksResponse response;
    grpc::ClientContext context;
    EXPECT_TRUE(v1::LockService::NewStub(channel_)->ListLocks(&context, {}, &response).ok());
    return {response.leases().begin(), response.leases().end()};
  }
  v1::Resource GetResource(const std::string& name) {
    v1::GetResourceRequest request;
    request.set_name(name);
    v1::Resource resource;
    grpc::ClientContext context;
    EXPECT_TRUE(v1::ResourceService::NewStub(channel_)->GetResource(&context, request, &resource).ok());
    return resource;
  }
  grpc::Status Query(const std::string& sql, v1::QueryResponse* response) {
    v1::QueryRequest request;
    request.set_sql(sql);
    grpc::ClientContext context;
    return v1::MatrixService::NewStub(channel_)->Query(&context, request, response);
  }

  TempFolder folder_;
  std::unique_ptr<ControllerProcess> controller_;
  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ControllerTest, OneJobFromSubmitToMatrix) {
  const uint64_t job = SubmitSmall();
  EXPECT_EQ(Get(job).job().state(), v1::JOB_STATE_QUEUED);
  ScriptedAgent agent(controller_->Connect(), "host", 1);
  const v1::Assign assign = agent.WaitForAssign();
  EXPECT_EQ(assign.job_id(), job);
  EXPECT_EQ(assign.resource(), "dev");
  EXPECT_EQ(assign.number(), 1u);
  EXPECT_EQ(assign.spec().lane(), "cpu-scalar@dev");
  EXPECT_EQ(assign.spec().tree().files_size(), 3);
  ASSERT_EQ(assign.locks_size(), 1);
  EXPECT_EQ(assign.locks(0).key(), "resource/dev");
  EXPECT_EQ(assign.locks(0).token(), 1u);
  ASSERT_THAT(Leases(), SizeIs(1));
  EXPECT_EQ(GetResource("dev").holder_job_id(), job);
  agent.Started(assign);
  agent.Log(assign, 0, "compiling\n");
  auto follower = std::async(std::launch::async, [&] { return ReadLog(job, true); });
  agent.Log(assign, 10, "running\n");
  EXPECT_THAT(agent.Finished(assign, PassingEvidence(assign.spec())).missing_sha256(), IsEmpty());

  const v1::Job done = WaitUntilDone(job);
  EXPECT_EQ(done.state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(done.outcome().verdict(), v1::VERDICT_PASS);
  EXPECT_EQ(done.record_id(), 1u);
  EXPECT_EQ(follower.get(), "compiling\nrunning\n");
  EXPECT_THAT(Leases(), IsEmpty());
  EXPECT_EQ(GetResource("dev").state(), v1::RESOURCE_STATE_AVAILABLE);
  const auto records = Records();
  ASSERT_THAT(records, SizeIs(1));
  EXPECT_EQ(Sha256Of(records[0].json()).Hex(), records[0].sha256());
  const auto cells = Matrix();
  ASSERT_THAT(cells, SizeIs(1));
  EXPECT_EQ(cells[0].suite(), "small");
  EXPECT_EQ(cells[0].lane(), "cpu-scalar@dev");
  EXPECT_EQ(cells[0].standing(), "PASS");
  EXPECT_EQ(cells[0].record_id(), 1u);
  EXPECT_EQ(cells[0].counts().passed(), 1u);
}

// The flow of one job with kill -9 of the controller after its `kill_after`th step. Returns what is left to see.
class StormTest : public ControllerTest, public testing::WithParamInterface<int> {
 protected:
  bool ShallKill(int step) { return step == GetParam(); }
};

TEST_P(StormTest, EndsLikeAnUndisturbedRun) {
  UploadSmallTree(channel_);
  if (ShallKill(0)) Restart();
  const uint64_t job = Submit(SmallSubmit("once")).jobs(0).id();
  if (ShallKill(1)) Restart();
  EXPECT_EQ(Submit(SmallSubmit("once")).jobs(0).id(), job) << "the same key gives the same job";
  std::vector<v1::ObservedAttempt> observed;
  auto agent = std::make_unique<ScriptedAgent>(controller_->Connect(), "host", 1);
  v1::Assign assign = agent->WaitForAssign();
  // The agent keeps its journal and its attempt while the controller comes back.
  const auto restart = [&](v1::ObservedState state) {
    Restart();
    observed.clear();
    if (state != v1::OBSERVED_STATE_UNSPECIFIED) {
      v1::ObservedAttempt& attempt = observed.emplace_back();
      attempt.set_attempt_id(assign.attempt_id());
      attempt.set_state(state);
      *attempt.mutable_locks() = assign.locks();
    }
    agent = std::make_unique<ScriptedAgent>(controller_->Connect(), "host", 1, observed);
  };
  if (ShallKill(2)) {
    // It was never received: it comes again, with the same number and token.
    restart(v1::OBSERVED_STATE_UNSPECIFIED);
    const v1::Assign again = agent->WaitForAssign();
    EXPECT_EQ(again.attempt_id(), assign.attempt_id());
    EXPECT_EQ(again.locks(0).token(), assign.locks(0).token());
  }
  agent->Started(assign);
  if (ShallKill(3)) restart(v1::OBSERVED_STATE_RUNNING);
  agent->Log(assign, 0, "hello ");
  if (ShallKill(4)) {
    restart(v1::OBSERVED_STATE_RUNNING);
    ASSERT_EQ(agent->welcome().logs_size(), 1);
    EXPECT_EQ(agent->welcome().logs(0).bytes(), 6u);
  }
  agent->Log(assign, 6, "world");
  EXPECT_THAT(agent->Finished(assign, PassingEvidence(assign.spec())).missing_sha256(), IsEmpty());
  if (ShallKill(5)) {
    // The acknowledgement may have been lost: the result comes again and is not stored again.
    restart(v1::OBSERVED_STATE_FINISHED);
    EXPECT_THAT(agent->welcome().forget(), ElementsAre(assign.attempt_id()));
    EXPECT_THAT(agent->Finished(assign, PassingEvidence(assign.spec())).missing_sha256(), IsEmpty());
  }
  if (ShallKill(6)) Restart();
  const v1::GetJobResponse got = Get(job);
  EXPECT_EQ(got.job().outcome().verdict(), v1::VERDICT_PASS);
  ASSERT_EQ(got.attempts_size(), 1);
  EXPECT_EQ(got.attempts(0).state(), v1::ATTEMPT_STATE_ENDED);
  EXPECT_EQ(ReadLog(job, true), "hello world");
  EXPECT_THAT(Records(), SizeIs(1));
  EXPECT_THAT(Leases(), IsEmpty());
  const auto cells = Matrix();
  ASSERT_THAT(cells, SizeIs(1));
  EXPECT_EQ(cells[0].standing(), "PASS");
}

INSTANTIATE_TEST_SUITE_P(KillAfter, StormTest, testing::Range(-1, 7));

TEST_F(ControllerTest, ANewerSessionReplacesAHalfOpenOne) {
  const uint64_t job = SubmitSmall();
  ScriptedAgent half_open(controller_->Connect(), "host", 1);
  const v1::Assign assign = half_open.WaitForAssign();
  v1::ObservedAttempt running;
  running.set_attempt_id(assign.attempt_id());
  running.set_state(v1::OBSERVED_STATE_RUNNING);
  *running.mutable_locks() = assign.locks();
  ScriptedAgent agent(controller_->Connect(), "host", 1, {running});
  EXPECT_EQ(half_open.End().error_code(), StatusCode::ABORTED);
  ASSERT_EQ(agent.welcome().assigned_size(), 1);
  EXPECT_EQ(agent.welcome().assigned(0).attempt_id(), assign.attempt_id());
  EXPECT_THAT(agent.Finished(assign, PassingEvidence(assign.spec())).missing_sha256(), IsEmpty());
  EXPECT_EQ(WaitUntilDone(job).outcome().verdict(), v1::VERDICT_PASS);
  EXPECT_EQ(Get(job).attempts_size(), 1);
}

TEST_F(ControllerTest, ResultsWaitForTheirArtifacts) {
  const uint64_t job = SubmitSmall();
  ScriptedAgent agent(controller_->Connect(), "host", 1);
  const v1::Assign assign = agent.WaitForAssign();
  v1::Evidence evidence = PassingEvidence(assign.spec());
  const std::string log(3 << 20, 'l');
  v1::FileEntry* file = evidence.add_artifacts();
  file->set_name("log/step.txt");
  file->set_size(log.size());
  file->set_sha256(Sha256Of(log).Hex());
  EXPECT_THAT(agent.Finished(assign, evidence).missing_sha256(), ElementsAre(file->sha256()));
  EXPECT_NE(Get(job).job().state(), v1::JOB_STATE_DONE);
  ASSERT_TRUE(Upload(channel_, log).ok());
  EXPECT_THAT(agent.Finished(assign, evidence).missing_sha256(), IsEmpty());
  EXPECT_EQ(WaitUntilDone(job).outcome().verdict(), v1::VERDICT_PASS);
  v1::ListArtifactsRequest request;
  request.set_job_id(job);
  v1::ListArtifactsResponse artifacts;
  grpc::ClientContext context;
  ASSERT_TRUE(v1::ArtifactService::NewStub(channel_)->ListArtifacts(&context, request, &artifacts).ok());
  ASSERT_EQ(artifacts.artifacts_size(), 1);
  EXPECT_EQ(artifacts.artifacts(0).file().name(), "log/step.txt");
}

TEST_F(ControllerTest, SubmitSaysWhatIsWrong) {
  grpc::Status status = SubmitStatus(SmallSubmit(""));
  EXPECT_EQ(status.error_code(), StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("has not been uploaded"));
  UploadSmallTree(channel_);
  v1::SubmitRequest request = SmallSubmit("");
  request.mutable_suite()->set_planned(2);
  request.mutable_suite()->mutable_cases(0)->set_kernel("");
  request.mutable_tree()->mutable_files(0)->set_name("../golden.sha256");
  status = SubmitStatus(request);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  for (const char* part : {"suite.planned", "suite.cases[0].kernel", "../golden.sha256"}) {
    EXPECT_THAT(status.error_message(), HasSubstr(part));
  }
  request = SmallSubmit("");
  request.mutable_source()->set_tree_sha256(std::string(64, '0'));
  EXPECT_EQ(SubmitStatus(request).error_code(), StatusCode::INVALID_ARGUMENT);
  request = SmallSubmit("");
  request.add_lanes("cuda@nowhere");
  EXPECT_EQ(SubmitStatus(request).error_code(), StatusCode::INVALID_ARGUMENT);
  request = SmallSubmit("");
  request.add_case_patterns("nothing*");
  EXPECT_EQ(SubmitStatus(request).error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(ControllerTest, CancelRetryExplain) {
  const uint64_t job = SubmitSmall();
  auto stub = v1::JobService::NewStub(channel_);
  v1::ExplainJobRequest explain;
  explain.set_id(job);
  v1::ExplainJobResponse reasons;
  grpc::ClientContext a, b, c, d;
  ASSERT_TRUE(stub->ExplainJob(&a, explain, &reasons).ok());
  ASSERT_GE(reasons.reasons_size(), 1);
  EXPECT_THAT(reasons.reasons(0), HasSubstr("dev"));
  v1::RetryJobRequest retry;
  retry.set_id(job);
  v1::Job answer;
  EXPECT_EQ(stub->RetryJob(&b, retry, &answer).error_code(), StatusCode::FAILED_PRECONDITION);
  v1::CancelJobRequest cancel;
  cancel.set_id(job);
  ASSERT_TRUE(stub->CancelJob(&c, cancel, &answer).ok());
  EXPECT_EQ(answer.outcome().verdict(), v1::VERDICT_CANCELLED);
  Restart();
  stub = v1::JobService::NewStub(channel_);
  ASSERT_TRUE(stub->RetryJob(&d, retry, &answer).ok());
  EXPECT_EQ(answer.state(), v1::JOB_STATE_QUEUED);
  EXPECT_NE(answer.id(), job);
  ScriptedAgent agent(controller_->Connect(), "host", 1);
  EXPECT_EQ(agent.WaitForAssign().job_id(), answer.id());
}

TEST_F(ControllerTest, QueriesReadViewsAndNothingElse) {
  SubmitSmall();
  v1::QueryResponse rows;
  ASSERT_TRUE(Query("SELECT suite, lane FROM jobs", &rows).ok());
  ASSERT_EQ(rows.rows_size(), 1);
  EXPECT_EQ(rows.rows(0).values(0).text(), "small");
  const std::vector<std::string> before = folder_.List();
  const std::string out = folder_ / "data/stolen.db";
  for (const std::string& sql :
       {std::string("DELETE FROM jobs"), "ATTACH '" + out + "' AS x", "VACUUM INTO '" + out + "'",
        std::string("PRAGMA journal_mode=DELETE"), std::string("SELECT * FROM sqlite_master"),
        std::string("SELECT load_extension('x')"), std::string("SELECT 1; DELETE FROM jobs"),
        std::string("CREATE TEMP TABLE t(x)"), std::string("SELECT * FROM nothing"), std::string("")}) {
    const grpc::Status status = Query(sql, &rows);
    EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT) << sql << ": " << status.error_message();
    EXPECT_NE(status.error_message(), "") << sql;
  }
  for (const std::string& sql :
       {std::string("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"),
        std::string("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c")}) {
    EXPECT_EQ(Query(sql, &rows).error_code(), StatusCode::RESOURCE_EXHAUSTED) << sql;
  }
  EXPECT_FALSE(Query("SELECT zeroblob(2000000000)", &rows).ok());
  EXPECT_EQ(folder_.List(), before);
  EXPECT_NE(SubmitSmall(), 0u) << "it still commits";
}

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
