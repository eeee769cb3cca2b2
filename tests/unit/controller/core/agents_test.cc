// Agents connect, vanish, come back changed, and are lost.
#include "tests/unit/controller/core/core_fixture.h"

namespace pyptox::controller {
namespace {

TEST_F(CoreTest, HelloRegistersAndIsWelcomed) {
  AgentHello hello = Hello(1, "a", {"dev", "qemu"});
  hello.hello.set_clock_ns(now_.wall.unix_ns - 5);
  const Effects effects = Do(hello);
  EXPECT_THAT(Text(effects.writes),
              ElementsAre("agent a connected", "resource dev AVAILABLE by 0", "resource qemu AVAILABLE by 0"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("to 1: welcome"));
  EXPECT_EQ(std::get<Send>(effects.actions[0]).message.welcome().heartbeat_ms(), 2000u);
  EXPECT_EQ(state_.agents.at("a").agent.clock_offset_ns(), -5);
}

TEST_F(CoreTest, HelloThatBreaksTheRulesIsRefused) {
  EXPECT_THAT(Actions(Hello(1, "", {"dev"})), ElementsAre("close 1 INVALID_ARGUMENT"));
  EXPECT_THAT(Actions(Hello(1, "a", {})), ElementsAre("close 1 INVALID_ARGUMENT"));
  EXPECT_THAT(Actions(Hello(1, "a", {"dev", "dev"})), ElementsAre("close 1 INVALID_ARGUMENT"));
  EXPECT_THAT(Actions(Hello(1, "a", {"dev"}, {}, 0)), ElementsAre("close 1 INVALID_ARGUMENT"));
  EXPECT_THAT(Actions(Hello(1, "a", {"dev"}, {}, 1, "")), ElementsAre("close 1 INVALID_ARGUMENT"));
}

TEST_F(CoreTest, OneNameOneAgentOneResourceOneAgent) {
  Do(Hello(1, "a", {"dev"}, {}, 5));
  EXPECT_THAT(Actions(Hello(2, "a", {"dev"}, {}, 1, "j2")), ElementsAre("close 2 FAILED_PRECONDITION"));
  EXPECT_THAT(Actions(Hello(3, "a", {"dev"}, {}, 4)), ElementsAre("close 3 FAILED_PRECONDITION"));
  EXPECT_THAT(Actions(Hello(4, "b", {"dev"})), ElementsAre("close 4 FAILED_PRECONDITION"));
  // Without a word for three heartbeats the other one may be dead.
  Wait(6);
  EXPECT_THAT(Actions(Hello(5, "a", {"dev"}, {}, 1, "j2")), ElementsAre("close 1 ABORTED", "to 5: welcome"));
}

TEST_F(CoreTest, NewerSessionReplacesTheOlder) {
  Do(Hello(1, "a", {"dev"}));
  EXPECT_THAT(Actions(Hello(2, "a", {"dev"})), ElementsAre("close 1 ABORTED", "to 2: welcome"));
  Do(AgentGone{1});
  EXPECT_TRUE(state_.agents.at("a").agent.connected());
  EXPECT_THAT(Actions(Heartbeat(1, {})), IsEmpty());
}

TEST_F(CoreTest, ResourceThatIsNoLongerOfferedIsReleased) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Do(AgentGone{1});
  EXPECT_THAT(Writes(Hello(2, "a", {"dev"})),
              ElementsAre("agent a connected", "resource dev AVAILABLE by 0", "resource qemu OFFLINE by 0"));
  Do(SubmitOn({"qemu"}));
  EXPECT_THAT(Reasons(1), ElementsAre("no agent registers resource qemu"));
  // Another agent may offer it now.
  EXPECT_THAT(Actions(Hello(3, "b", {"qemu"})), Contains("to 3: assign 1"));
}

TEST_F(CoreTest, ReconnectConfirmsWhatRuns) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Writes(AgentGone{1}), ElementsAre("agent a away", "resource dev OFFLINE by 1"));
  const Effects effects = Do(Hello(2, "a", {"dev"}, {{1, v1::OBSERVED_STATE_RUNNING}}));
  EXPECT_THAT(Text(effects.actions), ElementsAre("to 2: welcome +1"));
  // The agent has the spec; it does not travel again.
  EXPECT_FALSE(std::get<Send>(effects.actions[0]).message.welcome().assigned(0).has_spec());
}

TEST_F(CoreTest, AttemptThatNeverArrivedIsAssignedAgain) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(AgentGone{1});
  const Effects effects = Do(Hello(2, "a", {"dev"}));
  EXPECT_THAT(Text(effects.actions), ElementsAre("to 2: welcome", "to 2: assign 1"));
  EXPECT_TRUE(std::get<Send>(effects.actions[1]).message.assign().has_spec());
}

TEST_F(CoreTest, CancelledWhileAwayIsToldOrEnded) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Do(SubmitOn({"dev", "qemu"}));
  Do(AgentGone{1});
  Do(Cancel{5, 1, "stop"});
  Do(Cancel{6, 2, "stop"});
  // One runs there, the other never arrived.
  EXPECT_THAT(Actions(Hello(2, "a", {"dev", "qemu"}, {{1, v1::OBSERVED_STATE_RUNNING}})),
              ElementsAre("to 2: welcome +1", "changed 2 DONE", "to 2: cancel 1"));
  EXPECT_EQ(Job(2).outcome().verdict(), v1::VERDICT_CANCELLED);
  EXPECT_EQ(Job(2).record_id(), 1u);
}

TEST_F(CoreTest, InterruptedAttemptIsLostAndTriedAgain) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(AgentGone{1});
  const Effects effects = Do(Hello(2, "a", {"dev"}, {{1, v1::OBSERVED_STATE_INTERRUPTED}}, 2));
  EXPECT_THAT(
      Text(effects.writes),
      ElementsAre("agent a connected", "attempt 1 ENDED LOST(restart)", "no lease 1", "resource dev OFFLINE by 0",
                  "job 1 QUEUED", "resource dev AVAILABLE by 0", "attempt 2 ASSIGNED", "lease resource/dev 2 token 2",
                  "token resource/dev 2", "job 1 RUNNING", "resource dev BUSY by 1", "counters 1 1 2"));
  EXPECT_THAT(Text(effects.actions),
              ElementsAre("changed 1 QUEUED", "to 2: welcome -1", "changed 1 RUNNING", "to 2: assign 2"));
}

TEST_F(CoreTest, LostJournalLosesItsAttempts) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(AgentGone{1});
  EXPECT_THAT(Writes(Hello(2, "a", {"dev"}, {}, 1, "j2")), Contains("attempt 1 ENDED LOST(journal)"));
  EXPECT_EQ(state_.attempts.begin()->first, 2u);
}

TEST_F(CoreTest, LostAfterThirtySecondsOfSilence) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(AgentGone{1});
  EXPECT_THAT(Wait(29), IsEmpty());
  EXPECT_THAT(Wait(1), ElementsAre("attempt 1 ENDED LOST(agent)", "no lease 1", "resource dev OFFLINE by 0",
                                   "job 1 QUEUED", "changed 1 QUEUED"));
  EXPECT_THAT(Wait(100), IsEmpty());
  // The agent, back again, still runs it: it is to end it, and gets the new attempt.
  EXPECT_THAT(Actions(Hello(2, "a", {"dev"}, {{1, v1::OBSERVED_STATE_RUNNING}})),
              ElementsAre("to 2: welcome", "changed 1 RUNNING", "to 2: assign 2"));
}

TEST_F(CoreTest, HalfOpenConnectionIsClosed) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Wait(29), IsEmpty());
  EXPECT_THAT(Wait(1), testing::AllOf(Contains("close 1 UNAVAILABLE"), Contains("attempt 1 ENDED LOST(agent)"),
                                      Contains("job 1 QUEUED"), Not(Contains("attempt 2 ASSIGNED"))));
}

TEST_F(CoreTest, HeartbeatsKeepAttemptsTheyName) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Do(SubmitOn({"dev", "qemu"}));
  // Attempt 2 is not named: its lease runs out, and the resource goes to the next try.
  EXPECT_THAT(WaitAlive(34, 1, {1}), IsEmpty());
  EXPECT_THAT(Wait(1), Contains("attempt 2 ENDED LOST(unnamed)"));
  EXPECT_EQ(Job(1).last_attempt_id(), 1u);
  EXPECT_EQ(Job(2).last_attempt_id(), 3u);
}

TEST_F(CoreTest, AgentIsToldToEndWhatWasGivenUp) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  WaitAlive(35, 1, {});
  EXPECT_THAT(Actions(Heartbeat(1, {1, 2})), Contains("to 1: cancel 1"));
}

TEST_F(CoreTest, CancelledJobWhoseAgentIsLostIsCancelled) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(Cancel{5, 1, "stop"});
  Do(AgentGone{1});
  EXPECT_THAT(Wait(30), ElementsAre("attempt 1 ENDED LOST(agent)", "no lease 1", "resource dev OFFLINE by 0",
                                    "record 1 of 1 CANCELLED", "job 1 DONE CANCELLED", "changed 1 DONE"));
}

TEST_F(CoreTest, LostAttemptsDoNotUseUpTheJobsOwn) {
  Submit submit = SubmitOn({"dev"});
  submit.request.set_max_attempts(1);
  Do(submit);
  uint64_t session = 0;
  for (uint64_t attempt = 1; attempt <= kMaxLostAttempts; ++attempt) {
    Do(Hello(++session, "a", {"dev"}, {}, 1, fmt::format("journal {}", session)));
    ASSERT_EQ(Job(1).last_attempt_id(), attempt);
    Do(AgentGone{session});
  }
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_RUNNING);
  Do(Hello(++session, "a", {"dev"}, {}, 1, "last"));
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_DONE);
  EXPECT_EQ(Job(1).outcome().verdict(), v1::VERDICT_LOST);
}

TEST_F(CoreTest, RepeatedResultIsAcknowledgedAndNotStoredTwice) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  const AgentSaid finished = Finished(1, 1, v1::VERDICT_PASS);
  Do(finished);
  const Effects again = Do(finished);
  EXPECT_THAT(again.writes, IsEmpty());
  EXPECT_THAT(Text(again.actions), ElementsAre("to 1: ack 1"));
  // Nor is an acknowledgement that got lost a problem.
  EXPECT_THAT(Actions(Heartbeat(1, {1})), ElementsAre("to 1: heartbeat 1", "to 1: ack 1"));
  // At the next connect it is forgotten.
  EXPECT_THAT(Actions(Hello(2, "a", {"dev"}, {{1, v1::OBSERVED_STATE_FINISHED}})),
              ElementsAre("close 1 ABORTED", "to 2: welcome -1"));
}

TEST_F(CoreTest, ResultUnderOtherTokensIsAnOrphan) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  AgentSaid said = Finished(1, 1, v1::VERDICT_PASS);
  said.message.mutable_finished()->mutable_locks(0)->set_token(7);
  EXPECT_THAT(Writes(said), ElementsAre("orphan 1: attempt 1 came with stale tokens"));
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_RUNNING);
}

TEST_F(CoreTest, ResultOfAnotherAgentOrOfNobodyIsAnOrphan) {
  Do(Hello(1, "a", {"dev"}));
  Do(Hello(2, "b", {"qemu"}));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Writes(Finished(2, 1, v1::VERDICT_PASS)), ElementsAre("orphan 1: attempt 1 was given to agent a"));
  EXPECT_THAT(Writes(Finished(2, 77, v1::VERDICT_PASS)), ElementsAre("orphan 77: attempt 77 is not known"));
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_RUNNING);
}

}  // namespace
}  // namespace pyptox::controller
