// One job from submit to matrix, with scripted agents, and what may happen in between.
#include <future>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pyptox/v1/artifact.grpc.pb.h"
#include "pyptox/v1/job.grpc.pb.h"
#include "tests/integration/controller/controller_house.h"
#include "tests/integration/controller/scripted_agent.h"

namespace pyptox::controller {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

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

TEST_F(ControllerTest, APauseOutlivesAKilledControllerAndHoldsJobsUntilItEnds) {
  { const ScriptedAgent first(controller_->Connect(), "host", 1); }
  EXPECT_EQ(Order("dev", v1::RESOURCE_STATE_PAUSED).state(), v1::RESOURCE_STATE_PAUSED);
  const uint64_t job = SubmitSmall();
  Restart();
  ScriptedAgent agent(controller_->Connect(), "host", 2);
  EXPECT_EQ(Get(job).job().state(), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(GetResource("dev").state(), v1::RESOURCE_STATE_PAUSED);
  EXPECT_EQ(GetResource("dev").order().person(), "ann");
  EXPECT_THAT(Leases(), IsEmpty());
  Order("dev", v1::RESOURCE_STATE_AVAILABLE);
  EXPECT_EQ(agent.WaitForAssign().job_id(), job);
  const auto orders = Orders("dev");
  ASSERT_THAT(orders, SizeIs(2));
  EXPECT_EQ(orders[0].state(), v1::RESOURCE_STATE_AVAILABLE);
  EXPECT_EQ(orders[1].state(), v1::RESOURCE_STATE_PAUSED);
  EXPECT_GT(orders[1].at_ns(), 0);
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
  ASSERT_TRUE(Query("SELECT count(*) FROM jobs", &rows).ok());
  EXPECT_EQ(rows.rows(0).values(0).integer(), 1);
  for (const char* view : {"resources", "resource_orders", "facts", "jobs", "attempts", "records", "cases", "artifacts",
                           "matrix", "locks"}) {
    EXPECT_TRUE(Query(std::string("SELECT * FROM ") + view, &rows).ok()) << view;
  }
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

}  // namespace
}  // namespace pyptox::controller
