// Rows of the list of faults that bit systems like this one, by their source.
#include <random>

#include "tests/unit/controller/core/core_fixture.h"

namespace pyptox::controller {
namespace {

// buildbot#5987: cancelling a waiter released the owner's lock.
TEST_F(CoreTest, CancellingAWaiterLeavesTheOwnerAlone) {
  Do(Hello(1, "a", {"dev"}));
  for (int i = 0; i < 3; ++i) Do(SubmitOn({"dev"}));
  EXPECT_THAT(Writes(Cancel{9, 2, ""}), ElementsAre("job 2 DONE CANCELLED"));
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(Job(3).state(), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Actions(Finished(1, 1, v1::VERDICT_PASS)), Contains("to 1: assign 2"));
}

// The same in a thousand random interleavings: the invariants say that nobody shares and nobody is forgotten.
TEST_F(CoreTest, RandomCancelsKeepOneHolder) {
  std::mt19937 random(7);
  Do(Hello(1, "a", {"dev"}));
  for (int i = 0; i < 1000; ++i) {
    const uint64_t last = state_.counters.jobs;
    switch (random() % 3) {
      case 0:
        Do(SubmitOn({"dev"}, static_cast<int>(random() % 3)));
        break;
      case 1:
        if (last > 0) Do(Cancel{1, 1 + random() % last, ""});
        break;
      default:
        if (!state_.attempts.empty()) Do(Finished(1, state_.attempts.begin()->first, v1::VERDICT_FAIL));
    }
    ASSERT_LE(state_.attempts.size(), 1u);
  }
}

// lockable-resources#88: the head of the queue blocked runnable jobs behind it.
TEST_F(CoreTest, HeadThatCannotRunBlocksNobody) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"a2"}, 100));
  for (int i = 0; i < 50; ++i) Do(SubmitOn({"dev"}));
  for (uint64_t attempt = 1; attempt <= 50; ++attempt) {
    ASSERT_EQ(state_.attempts.at(attempt).attempt.resource(), "dev");
    Do(Finished(1, attempt, v1::VERDICT_PASS));
  }
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_QUEUED);
}

// A low priority ages: one step is worth a minute of waiting.
TEST_F(CoreTest, LowPriorityIsServedInTheEnd) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(SubmitOn({"dev"}, -5));
  WaitAlive(301, 1, {1});
  Do(SubmitOn({"dev"}, 0));
  Do(Finished(1, 1, v1::VERDICT_PASS));
  EXPECT_EQ(state_.attempts.begin()->second.attempt.job_id(), 2u);
}

// buildbot#4491: a waiter was never woken when the lock came free on another path.
TEST_F(CoreTest, EveryWayOfReleaseWakesTheNext) {
  Do(Hello(1, "a", {"dev"}));
  for (int i = 0; i < 6; ++i) Do(SubmitOn({"dev"}));
  EXPECT_THAT(Actions(Finished(1, 1, v1::VERDICT_PASS)), Contains("to 1: assign 2"));  // the end
  Do(Cancel{9, 2, ""});
  EXPECT_THAT(Actions(Finished(1, 2, v1::VERDICT_CANCELLED)), Contains("to 1: assign 3"));  // cancel
  EXPECT_THAT(WaitAlive(35, 1, {}), Contains("to 1: assign 4"));                            // expiry
  AgentSaid refused{1, {}};
  refused.message.mutable_refused()->set_attempt_id(4);
  EXPECT_THAT(Actions(refused), Contains("to 1: assign 5"));  // refusal
  Do(AgentGone{1});
  Wait(30);  // loss of the agent
  EXPECT_THAT(Actions(Hello(2, "a", {"dev"})), Contains("to 2: assign 6"));
}

// openQA#3409: a late result of an old attempt was taken as the current one.
TEST_F(CoreTest, LateResultIsAnOrphan) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  const AgentSaid old = Finished(2, 1, v1::VERDICT_PASS);
  Do(AgentGone{1});
  Wait(30);
  EXPECT_THAT(Actions(Hello(2, "a", {"dev"}, {{1, v1::OBSERVED_STATE_FINISHED}})),
              ElementsAre("to 2: welcome", "changed 1 RUNNING", "to 2: assign 2"));
  const Effects effects = Do(old);
  EXPECT_THAT(Text(effects.writes), ElementsAre("orphan 1: attempt 1 was lost before its result came"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("to 2: ack 1"));
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(state_.record_count, 0u);
}

// labgrid#1739: a vanished client left its reservation for ever. Here a job lives without its client, and its lease
// ends with it.
TEST_F(CoreTest, LeaseLivesAndEndsWithTheJob) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(WaitAlive(600, 1, {1}), IsEmpty());
  EXPECT_EQ(state_.leases.leases().size(), 1u);
  Do(Finished(1, 1, v1::VERDICT_PASS));
  EXPECT_EQ(state_.leases.leases().size(), 0u);
}

// k8s#127352: a controller that stalled evicted healthy nodes.
TEST_F(CoreTest, OwnStallGivesEverybodyAFullGrace) {
  Do(Hello(1, "a", {"dev", "qemu"}));
  Do(SubmitOn({"dev"}));
  Submit waiting = SubmitOn({"a2"});
  waiting.request.mutable_suite()->mutable_lanes(0)->mutable_limits()->set_queue_s(60);
  Do(waiting);
  now_.mono = now_.mono + Seconds(120);
  EXPECT_THAT(Actions(Tick{}), IsEmpty());
  EXPECT_THAT(Wait(29), IsEmpty());
  EXPECT_THAT(Wait(1), Contains("attempt 1 ENDED LOST(agent)"));
  // Nor did the stall count as waiting in the queue.
  EXPECT_EQ(Job(2).state(), v1::JOB_STATE_QUEUED);
}

// nomad#3595: a host that slept flapped on its return.
TEST_F(CoreTest, SleeperReturnsOnce) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Wait(600);
  EXPECT_EQ(Job(1).attempts(), 1u);
  // What it still says on the dead stream is nobody's.
  EXPECT_THAT(Actions(Heartbeat(1, {1})), IsEmpty());
  EXPECT_THAT(Actions(Finished(1, 1, v1::VERDICT_PASS)), IsEmpty());
  EXPECT_THAT(Actions(Hello(2, "a", {"dev"}, {{1, v1::OBSERVED_STATE_RUNNING}})),
              ElementsAre("to 2: welcome", "changed 1 RUNNING", "to 2: assign 2"));
  EXPECT_THAT(WaitAlive(100, 2, {2}), IsEmpty());
}

}  // namespace
}  // namespace pyptox::controller
