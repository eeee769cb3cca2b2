// Who runs next: resources, priorities, prerequisites, time limits, attempts.
#include "tests/unit/controller/core/core_fixture.h"

namespace pyptox::controller {
namespace {

TEST_F(CoreTest, GrantIsDurableBeforeTheAgentHearsOfIt) {
  Do(Hello(1, "a", {"dev"}));
  const Effects effects = Do(SubmitOn({"dev"}));
  EXPECT_THAT(Text(effects.writes),
              ElementsAre("job 1 QUEUED", "spec 1", "attempt 1 ASSIGNED", "lease resource/dev 1 token 1",
                          "token resource/dev 1", "job 1 RUNNING", "resource dev BUSY by 1", "counters 1 1 1"));
  EXPECT_THAT(Text(effects.actions),
              ElementsAre("changed 1 QUEUED", "changed 1 RUNNING", "to 1: assign 1", "reply 1 OK"));
  const v1::Assign& assign = std::get<Send>(effects.actions[2]).message.assign();
  EXPECT_EQ(assign.job_id(), 1u);
  EXPECT_EQ(assign.number(), 1u);
  EXPECT_EQ(assign.resource(), "dev");
  ASSERT_EQ(assign.locks_size(), 1);
  EXPECT_EQ(assign.locks(0).key(), "resource/dev");
  EXPECT_EQ(assign.locks(0).token(), 1u);
  EXPECT_EQ(assign.spec().lane(), "l-dev");
  EXPECT_EQ(assign.spec().suite().name(), "s");
}

TEST_F(CoreTest, ResultMakesARecordAndWakesTheNext) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Writes(Started(1, 1)), ElementsAre("attempt 1 RUNNING"));
  EXPECT_THAT(Writes(Started(1, 1)), IsEmpty());
  const Effects effects = Do(Finished(1, 1, v1::VERDICT_PASS));
  EXPECT_THAT(Text(effects.writes),
              ElementsAre("attempt 1 ENDED PASS", "no lease 1", "attempt 2 ASSIGNED", "lease resource/dev 2 token 2",
                          "token resource/dev 2", "job 2 RUNNING", "resource dev BUSY by 2", "record 1 of 1 PASS",
                          "job 1 DONE PASS", "counters 2 2 2"));
  EXPECT_THAT(Text(effects.actions),
              ElementsAre("changed 2 RUNNING", "to 1: assign 2", "changed 1 DONE", "to 1: ack 1"));
  EXPECT_EQ(Job(1).record_id(), 1u);
}

TEST_F(CoreTest, RecordSaysWhoRanWhatUnderWhichLock) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  const Effects effects = Do(Finished(1, 1, v1::VERDICT_PASS));
  const v1::Record& record = std::get<PutRecord>(effects.writes.at(3)).record;
  EXPECT_EQ(record.suite(), "s");
  EXPECT_EQ(record.lane(), "l-dev");
  EXPECT_EQ(record.target(), "cpu-scalar");
  EXPECT_EQ(record.resource(), "dev");
  EXPECT_EQ(record.agent(), "a");
  EXPECT_EQ(record.job_id(), 1u);
  EXPECT_EQ(record.attempt_id(), 1u);
  EXPECT_EQ(record.attempt_number(), 1u);
  EXPECT_EQ(record.locks(0).token(), 1u);
  EXPECT_EQ(record.counts().planned(), 2u);
  EXPECT_EQ(record.counts().passed(), 2u);
  EXPECT_EQ(record.suite_sha256().size(), 64u);
  EXPECT_EQ(record.golden_sha256().size(), 64u);
  EXPECT_EQ(record.submitter(), "ann");
  EXPECT_EQ(record.recorded_at_ns(), now_.wall.unix_ns);
  EXPECT_EQ(record.previous_sha256(), std::string(64, '0'));
}

TEST_F(CoreTest, HigherPriorityFirstThenOrderOfArrival) {
  Do(Hello(1, "a", {"dev"}));
  for (const int priority : {0, 0, 5, 0, 5}) Do(SubmitOn({"dev"}, priority));
  std::vector<uint64_t> order;
  for (uint64_t attempt = 1; attempt <= 5; ++attempt) {
    order.push_back(state_.attempts.at(attempt).attempt.job_id());
    Do(Finished(1, attempt, v1::VERDICT_FAIL));
  }
  EXPECT_THAT(order, ElementsAre(1, 3, 5, 2, 4));
}

// The required lane and one that requires it.
Submit Chain(Submit submit) {
  submit.request.mutable_suite()->mutable_lanes(1)->add_requires_pass("l-dev");
  return submit;
}

TEST_F(CoreTest, PrerequisiteIsWaitedFor) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  EXPECT_THAT(Actions(Chain(SubmitOn({"dev", "qemu"}))), Not(Contains("to 1: assign 2")));
  EXPECT_THAT(Reasons(2), ElementsAre("waits for l-dev to PASS at this tree (job 1 is running)"));
  EXPECT_THAT(Actions(Finished(1, 1, v1::VERDICT_PASS)), Contains("to 1: assign 2"));
}

TEST_F(CoreTest, FailedPrerequisiteEndsTheJobWithARecord) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Do(Chain(SubmitOn({"dev", "qemu"})));
  EXPECT_THAT(
      Writes(Finished(1, 1, v1::VERDICT_FAIL)),
      ElementsAre("attempt 1 ENDED FAIL", "no lease 1", "resource dev AVAILABLE by 0", "record 1 of 1 FAIL",
                  "job 1 DONE FAIL", "record 2 of 2 NO_VERDICT(prerequisite)", "job 2 DONE NO_VERDICT(prerequisite)"));
  EXPECT_EQ(Job(2).outcome().reason(), "l-dev must PASS at this tree first; record 1 says FAIL");
}

TEST_F(CoreTest, PrerequisiteThatNeverRanEndsTheJob) {
  Submit submit = Chain(SubmitOn({"dev", "qemu"}));
  submit.request.add_lanes("l-qemu");
  Do(submit);
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Job(1).outcome().reason(), "l-dev must PASS at this tree first; it never ran there");
}

TEST_F(CoreTest, EarlierPassAtTheSameTreeCountsAndAtAnotherDoesNot) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Submit scalar = Chain(SubmitOn({"dev", "qemu"}));
  scalar.request.add_lanes("l-dev");
  Do(scalar);
  Do(Finished(1, 1, v1::VERDICT_PASS));
  Submit vector = Chain(SubmitOn({"dev", "qemu"}));
  vector.request.add_lanes("l-qemu");
  EXPECT_THAT(Actions(vector), Contains("to 1: assign 2"));
  vector.request.mutable_source()->set_tree_sha256("other");
  Do(vector);
  EXPECT_EQ(Job(3).outcome().kind(), "prerequisite");
}

TEST_F(CoreTest, YoungerJobsAreNotWaitedFor) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Do(Chain(SubmitOn({"dev", "qemu"})));
  Do(Finished(1, 1, v1::VERDICT_PASS));
  Do(Finished(1, 2, v1::VERDICT_PASS));
  Submit vector = Chain(SubmitOn({"dev", "qemu"}));
  vector.request.add_lanes("l-qemu");
  Do(vector);
  Submit scalar = Chain(SubmitOn({"dev", "qemu"}));
  scalar.request.add_lanes("l-dev");
  Do(scalar);
  EXPECT_EQ(Job(3).state(), v1::JOB_STATE_RUNNING);
}

TEST_F(CoreTest, PartialJobRestsOnThePartOfItsOwnSubmission) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Submit part = Chain(SubmitOn({"dev", "qemu"}));
  part.request.add_case_patterns("one");
  Do(part);
  AgentSaid one = Finished(1, 1, v1::VERDICT_PASS);
  one.message.mutable_finished()->mutable_evidence()->mutable_cases()->RemoveLast();
  EXPECT_THAT(Actions(one), Contains("to 1: assign 2"));
  // The whole lane has not passed by that.
  Submit vector = Chain(SubmitOn({"dev", "qemu"}));
  vector.request.add_lanes("l-qemu");
  Do(vector);
  EXPECT_EQ(Job(3).outcome().kind(), "prerequisite");
}

TEST_F(CoreTest, InfraIsTriedAgainAndLeavesOneRecord) {
  Do(Hello(1, "a", {"dev"}));
  Submit submit = SubmitOn({"dev"});
  submit.request.set_max_attempts(2);
  Do(submit);
  EXPECT_THAT(Writes(Finished(1, 1, v1::VERDICT_INFRA, "report")),
              ElementsAre("attempt 1 ENDED INFRA(report)", "no lease 1", "resource dev AVAILABLE by 0", "job 1 QUEUED",
                          "attempt 2 ASSIGNED", "lease resource/dev 2 token 2", "token resource/dev 2", "job 1 RUNNING",
                          "resource dev BUSY by 1", "counters 1 1 2"));
  EXPECT_THAT(Writes(Finished(1, 2, v1::VERDICT_INFRA, "report")),
              ElementsAre("attempt 2 ENDED INFRA(report)", "no lease 2", "resource dev AVAILABLE by 0",
                          "record 1 of 1 INFRA(report)", "job 1 DONE INFRA(report)"));
  EXPECT_EQ(Job(1).attempts(), 2u);
}

TEST_F(CoreTest, VerdictThatTheCasesDoNotCarryIsLowered) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  AgentSaid said = Finished(1, 1, v1::VERDICT_PASS);
  said.message.mutable_finished()->mutable_evidence()->mutable_cases()->RemoveLast();
  EXPECT_THAT(Writes(said), Contains("job 1 DONE NO_VERDICT(planned)"));
}

TEST_F(CoreTest, UnaskedCancelledIsInfra) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Writes(Finished(1, 1, v1::VERDICT_CANCELLED)), Contains("attempt 1 ENDED INFRA(outcome)"));
}

TEST_F(CoreTest, RefusedAttemptIsTriedAgain) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  AgentSaid refused{1, {}};
  refused.message.mutable_refused()->set_attempt_id(1);
  refused.message.mutable_refused()->mutable_outcome()->set_kind("disk_full");
  const Effects effects = Do(refused);
  EXPECT_THAT(Text(effects.writes), Contains("attempt 1 ENDED INFRA(disk_full)"));
  EXPECT_THAT(Text(effects.actions), Contains("to 1: assign 2"));
}

TEST_F(CoreTest, QueueTimeLimit) {
  Submit submit = SubmitOn({"dev"});
  submit.request.mutable_suite()->mutable_lanes(0)->mutable_limits()->set_queue_s(10);
  Do(submit);
  EXPECT_EQ(NextDeadline(state_).ns, (now_.mono + Seconds(10)).ns);
  EXPECT_THAT(Wait(9), IsEmpty());
  EXPECT_THAT(Wait(1), ElementsAre("record 1 of 1 TIMEOUT(queue)", "job 1 DONE TIMEOUT(queue)", "changed 1 DONE"));
  EXPECT_EQ(NextDeadline(state_).ns, INT64_MAX);
}

TEST_F(CoreTest, RunBackstopCancels) {
  Do(Hello(1, "a", {"dev"}));
  Submit submit = SubmitOn({"dev"});
  submit.request.mutable_suite()->mutable_lanes(0)->mutable_limits()->set_run_s(10);
  Do(submit);
  Do(Started(1, 1));
  EXPECT_THAT(WaitAlive(69, 1, {1}), IsEmpty());
  EXPECT_THAT(Wait(1), ElementsAre("job 1 CANCELLING TIMEOUT(run)", "changed 1 CANCELLING", "to 1: cancel 1"));
  EXPECT_THAT(Writes(Finished(1, 1, v1::VERDICT_CANCELLED)), Contains("job 1 DONE TIMEOUT(run)"));
}

TEST_F(CoreTest, ProgressIsForThoseWhoWatch) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  AgentSaid said{1, {}};
  said.message.mutable_progress()->set_attempt_id(1);
  said.message.mutable_progress()->mutable_progress()->set_cases_done(7);
  EXPECT_THAT(Actions(said), ElementsAre("changed 1 RUNNING"));
  EXPECT_EQ(Job(1).progress().cases_done(), 7u);
}

}  // namespace
}  // namespace pyptox::controller
