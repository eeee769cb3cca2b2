// Submit, cancel, retry, explain.
#include "tests/unit/controller/core/core_fixture.h"

namespace pyptox::controller {
namespace {

TEST_F(CoreTest, SubmitWritesBeforeItPromises) {
  Submit submit = SubmitOn({"dev", "qemu"});
  submit.request.set_idempotency_key("k");
  const Effects effects = Do(submit);
  EXPECT_THAT(Text(effects.writes),
              ElementsAre("key k 1", "job 1 QUEUED", "spec 1", "job 2 QUEUED", "spec 2", "counters 1 2 0"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("changed 1 QUEUED", "changed 2 QUEUED", "reply 1 OK"));
  const auto& response = std::get<v1::SubmitResponse>(std::get<Reply>(effects.actions.back()).message);
  EXPECT_EQ(response.submission_id(), 1u);
  ASSERT_EQ(response.jobs_size(), 2);
  const v1::Job& job = response.jobs(0);
  EXPECT_EQ(job.suite(), "s");
  EXPECT_EQ(job.lane(), "l-dev");
  EXPECT_EQ(job.target(), "cpu-scalar");
  EXPECT_EQ(job.resource(), "dev");
  EXPECT_EQ(job.submitter(), "ann");
  EXPECT_EQ(job.head(), "abc");
  EXPECT_EQ(job.tree_sha256(), "tree");
  EXPECT_EQ(job.max_attempts(), 3u);
  EXPECT_FALSE(job.partial());
}

TEST_F(CoreTest, SecondSubmitWithTheSameKeyGivesTheFirstJobs) {
  Submit submit = SubmitOn({"dev"});
  submit.request.set_idempotency_key("k");
  Do(submit);
  submit.request_id = 9;
  const Effects again = Do(submit);
  EXPECT_THAT(again.writes, IsEmpty());
  EXPECT_THAT(Text(again.actions), ElementsAre("reply 9 OK"));
  EXPECT_EQ(std::get<v1::SubmitResponse>(std::get<Reply>(again.actions[0]).message).jobs(0).id(), 1u);
}

// Else a person who uses a key again would be shown the PASS of other code.
TEST_F(CoreTest, AKeyDoesNotAnswerForAnotherSubmission) {
  Submit submit = SubmitOn({"dev", "qemu"});
  submit.request.set_idempotency_key("k");
  Do(submit);
  std::vector<Submit> others(8, submit);
  others[0].request.mutable_suite()->mutable_cases(0)->set_kernel("other");
  others[1].request.mutable_source()->set_tree_sha256("other");
  others[2].request.mutable_source()->set_head("other");
  others[3].request.mutable_source()->set_dirty(true);
  others[4].request.add_lanes("l-dev");
  others[5].request.add_case_patterns(submit.request.suite().cases(0).name());
  others[6].request.set_priority(7);
  others[7].request.set_max_attempts(2);
  for (const Submit& other : others) {
    const Effects effects = Do(other);
    EXPECT_THAT(effects.writes, IsEmpty());
    ASSERT_EQ(effects.actions.size(), 1u);
    const absl::Status& status = std::get<Reply>(effects.actions[0]).status;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << other.request.DebugString();
    EXPECT_EQ(status.message(), "idempotency_key: `k` is that of submission 1 (job 1), which asked for something else");
  }
  submit.request.set_submitter("somebody else");
  EXPECT_THAT(Text(Do(submit).actions), ElementsAre("reply 1 OK"));
}

TEST_F(CoreTest, SubmitRefusesWhatItCannotDo) {
  Submit lane = SubmitOn({"dev"});
  lane.request.add_lanes("nope");
  Submit pattern = SubmitOn({"dev"});
  pattern.request.add_case_patterns("x*");
  Submit attempts = SubmitOn({"dev"});
  attempts.request.set_max_attempts(11);
  for (const Submit& submit : {lane, pattern, attempts, SubmitOn({"dev"}, 101)}) {
    const Effects effects = Do(submit);
    EXPECT_THAT(effects.writes, IsEmpty());
    ASSERT_EQ(effects.actions.size(), 1u);
    EXPECT_EQ(std::get<Reply>(effects.actions[0]).status.code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(state_.jobs.size(), 0u);
}

TEST_F(CoreTest, FullQueueRefuses) {
  for (size_t i = 0; i < kMaxActiveJobs; ++i) state_.active.insert(1'000'000 + i);
  const Effects effects = Step(state_, SubmitOn({"dev"}), now_);
  EXPECT_EQ(std::get<Reply>(effects.actions.at(0)).status.code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(CoreTest, PatternsPickCasesAndMakeTheJobPartial) {
  Submit some = SubmitOn({"dev"});
  some.request.add_case_patterns("o*");
  Do(some);
  EXPECT_TRUE(Job(1).partial());
  EXPECT_THAT(state_.jobs.at(1).spec->cases(), ElementsAre("one"));
  Submit all = SubmitOn({"dev"});
  all.request.add_case_patterns("*");
  Do(all);
  EXPECT_FALSE(Job(2).partial());
}

TEST_F(CoreTest, CancelOfQueuedJobLeavesNoRecord) {
  Do(SubmitOn({"dev"}));
  const Effects effects = Do(Cancel{5, 1, "not needed"});
  EXPECT_THAT(Text(effects.writes), ElementsAre("job 1 DONE CANCELLED"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("changed 1 DONE", "reply 5 OK"));
  EXPECT_EQ(Job(1).outcome().reason(), "not needed");
  EXPECT_EQ(Job(1).record_id(), 0u);
  EXPECT_THAT(Actions(Cancel{6, 1, "again"}), ElementsAre("reply 6 OK"));
  EXPECT_EQ(Job(1).outcome().reason(), "not needed");
  EXPECT_THAT(Actions(Cancel{7, 99, ""}), ElementsAre("reply 7 NOT_FOUND"));
}

TEST_F(CoreTest, CancelOfRunningJobWaitsForTheAgent) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  const Effects effects = Do(Cancel{5, 1, "stop"});
  EXPECT_THAT(Text(effects.writes), ElementsAre("job 1 CANCELLING CANCELLED"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("changed 1 CANCELLING", "to 1: cancel 1", "reply 5 OK"));
  // The first reason stays.
  EXPECT_THAT(Actions(Cancel{6, 1, "stop!"}), ElementsAre("reply 6 OK"));
  // Whatever the agent says now, the job is cancelled, with a record.
  EXPECT_THAT(Writes(Finished(1, 1, v1::VERDICT_PASS)),
              ElementsAre("attempt 1 ENDED CANCELLED", "no lease 1", "resource dev AVAILABLE by 0",
                          "record 1 of 1 CANCELLED", "job 1 DONE CANCELLED"));
  EXPECT_EQ(Job(1).outcome().reason(), "stop");
}

TEST_F(CoreTest, CancelIsSaidAgainUntilTheAttemptEnds) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(Cancel{5, 1, "stop"});
  EXPECT_THAT(Actions(Heartbeat(1, {1})), ElementsAre("to 1: heartbeat 1", "to 1: cancel 1"));
}

TEST_F(CoreTest, RetryMakesANewJobOfTheSameSpec) {
  Do(Hello(1, "a", {"dev"}));
  Submit submit = SubmitOn({"dev"}, 7);
  Do(submit);
  v1::JobSpec spec = *state_.jobs.at(1).spec;
  EXPECT_THAT(Actions(Retry{5, 1, spec}), ElementsAre("reply 5 FAILED_PRECONDITION"));
  EXPECT_THAT(Actions(Retry{6, 9, spec}), ElementsAre("reply 6 NOT_FOUND"));
  Do(Finished(1, 1, v1::VERDICT_FAIL));
  EXPECT_THAT(Actions(Retry{7, 1, {}}), ElementsAre("reply 7 INTERNAL"));
  const Effects effects = Do(Retry{8, 1, spec});
  const auto& job = std::get<v1::Job>(std::get<Reply>(effects.actions.back()).message);
  EXPECT_EQ(job.id(), 2u);
  EXPECT_EQ(job.submission_id(), 2u);
  EXPECT_EQ(job.priority(), 7);
  EXPECT_EQ(job.submitter(), "ann");
  EXPECT_EQ(job.state(), v1::JOB_STATE_RUNNING);
}

TEST_F(CoreTest, ExplainSaysWhatIsInTheWay) {
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Reasons(1), ElementsAre("no agent registers resource dev"));
  Do(Hello(1, "a", {"dev"}));
  EXPECT_THAT(Reasons(1), ElementsAre("attempt 1 was given to agent a, which has not begun it"));
  Do(Started(1, 1));
  EXPECT_THAT(Reasons(1), ElementsAre("attempt 1 runs on agent a: first step, 0 of 0 cases done"));
  Do(SubmitOn({"dev"}));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Reasons(3), ElementsAre("resource dev is held by job 1", "job 2 is before it in the queue for dev"));
  Do(AgentGone{1});
  EXPECT_THAT(Reasons(2), ElementsAre("agent a is not connected", "resource dev is held by job 1"));
  EXPECT_THAT(Reasons(1), ElementsAre("agent a is not connected; attempt 1 is lost in 30 s unless it comes back",
                                      "attempt 1 runs on agent a: first step, 0 of 0 cases done"));
  Do(Cancel{5, 1, "stop"});
  EXPECT_THAT(Reasons(1), Contains("agent a was asked to end attempt 1"));
  Do(Hello(2, "a", {"dev"}, {{1, v1::OBSERVED_STATE_RUNNING}}));
  Do(Finished(2, 1, v1::VERDICT_CANCELLED));
  EXPECT_THAT(Reasons(1), ElementsAre("it is done: CANCELLED, stop"));
  EXPECT_THAT(Actions(Explain{9, 77}), ElementsAre("reply 9 NOT_FOUND"));
}

}  // namespace
}  // namespace pyptox::controller
