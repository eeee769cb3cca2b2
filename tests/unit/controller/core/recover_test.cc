// Starts of the controller. lockable-resources#500: a crash left locks and running entries with nobody.
#include "matrix/record_seal.h"
#include "tests/unit/controller/core/core_fixture.h"

namespace pyptox::controller {
namespace {

class RecoverTest : public CoreTest {
 protected:
  // Reads the state as the store would have it.
  Recovered Stored() const {
    Recovered stored;
    stored.counters = state_.counters;
    for (const auto& [id, entry] : state_.jobs) {
      stored.jobs.push_back(entry.job);
      if (!entry.spec) continue;
      stored.specs[id] = *entry.spec;
    }
    for (const auto& [id, live] : state_.attempts) {
      stored.attempts.push_back(live.attempt);
      for (const v1::HeldLock& lock : live.attempt.locks()) {
        v1::Lease& lease = stored.leases.emplace_back();
        lease.set_key(lock.key());
        lease.set_mode(v1::LOCK_MODE_EXCLUSIVE);
        lease.set_units(1);
        lease.set_attempt_id(id);
        lease.set_token(lock.token());
      }
    }
    for (const auto& [key, token] : state_.leases.tokens()) {
      stored.tokens.emplace_back().set_key(key);
      stored.tokens.back().set_token(token);
    }
    for (const auto& [name, entry] : state_.agents) stored.agents.push_back(entry.agent);
    for (const auto& [name, resource] : state_.resources) stored.resources.push_back(resource);
    stored.idempotency = state_.idempotency;
    stored.record_count = state_.record_count;
    stored.record_head_sha256 = state_.record_head_sha256;
    return stored;
  }
  // The controller is killed and starts again, on another monotonic clock.
  Effects Restart() {
    const Recovered stored = Stored();
    now_.mono = MonoTime{Seconds(5).ns};
    absl::StatusOr<Start> start = MakeState(stored, now_);
    EXPECT_TRUE(start.ok()) << start.status();
    state_ = std::move(start->state);
    const absl::Status status = CheckInvariants(state_);
    EXPECT_TRUE(status.ok()) << status;
    return std::move(start->effects);
  }
};

TEST_F(RecoverTest, EmptyStoreStartsEmpty) {
  const Effects effects = Restart();
  EXPECT_THAT(effects.writes, IsEmpty());
  EXPECT_THAT(effects.actions, IsEmpty());
  EXPECT_EQ(state_.record_head_sha256, matrix::kNoRecord);
}

TEST_F(RecoverTest, HoldersKeepWhatTheyHold) {
  Do(Hello(1, "a", {"r1", "r2", "r3", "r4", "r5"}));
  Do(SubmitOn({"r1", "r2", "r3", "r4", "r5"}));
  Do(SubmitOn({"r1"}));
  const Effects effects = Restart();
  EXPECT_THAT(Text(effects.writes),
              ElementsAre("agent a away", "resource r1 OFFLINE by 1", "resource r2 OFFLINE by 2",
                          "resource r3 OFFLINE by 3", "resource r4 OFFLINE by 4", "resource r5 OFFLINE by 5"));
  EXPECT_EQ(state_.attempts.size(), 5u);
  // The agent was there all the time: it confirms four, and has finished one.
  EXPECT_THAT(Actions(Hello(1, "a", {"r1", "r2", "r3", "r4", "r5"},
                            {{1, v1::OBSERVED_STATE_RUNNING},
                             {2, v1::OBSERVED_STATE_RUNNING},
                             {3, v1::OBSERVED_STATE_RUNNING},
                             {4, v1::OBSERVED_STATE_RUNNING},
                             {5, v1::OBSERVED_STATE_FINISHED}})),
              ElementsAre("to 1: welcome +1 +2 +3 +4 +5"));
  EXPECT_THAT(Writes(Finished(1, 5, v1::VERDICT_PASS)), Contains("job 5 DONE PASS"));
  EXPECT_THAT(Actions(Finished(1, 1, v1::VERDICT_PASS)), Contains("to 1: assign 6"));
}

TEST_F(RecoverTest, AgentThatNeverComesBackIsLostAfterAFullGrace) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  WaitAlive(29, 1, {1});
  Restart();
  EXPECT_THAT(Wait(29), IsEmpty());
  EXPECT_THAT(Wait(1), Contains("attempt 1 ENDED LOST(agent)"));
}

TEST_F(RecoverTest, TokensGrowOverRestarts) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(Finished(1, 1, v1::VERDICT_PASS));
  Restart();
  Do(Hello(1, "a", {"dev"}));
  EXPECT_THAT(Writes(SubmitOn({"dev"})), Contains("lease resource/dev 2 token 2"));
}

TEST_F(RecoverTest, ChainIdsAndKeysGoOn) {
  Do(Hello(1, "a", {"dev"}));
  Submit submit = SubmitOn({"dev"});
  submit.request.set_idempotency_key("k");
  Do(submit);
  const std::string head = std::get<PutRecord>(Do(Finished(1, 1, v1::VERDICT_PASS)).writes.at(3)).stored.sha256();
  Restart();
  EXPECT_THAT(Actions(submit), ElementsAre("reply 1 OK"));
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  const Effects effects = Do(Finished(1, 2, v1::VERDICT_PASS));
  const v1::Record& record = std::get<PutRecord>(effects.writes.at(3)).record;
  EXPECT_EQ(record.id(), 2u);
  EXPECT_EQ(record.job_id(), 2u);
  EXPECT_EQ(record.previous_sha256(), head);
}

TEST_F(RecoverTest, WhatACancelWantedIsKept) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  Do(Cancel{5, 1, "stop"});
  Restart();
  EXPECT_THAT(Actions(Hello(1, "a", {"dev"}, {{1, v1::OBSERVED_STATE_RUNNING}})),
              ElementsAre("to 1: welcome +1", "to 1: cancel 1"));
  Do(Finished(1, 1, v1::VERDICT_PASS));
  EXPECT_EQ(Job(1).outcome().verdict(), v1::VERDICT_CANCELLED);
  EXPECT_EQ(Job(1).outcome().reason(), "stop");
}

TEST_F(RecoverTest, FailedPrerequisiteIsSeenAtTheStart) {
  Submit submit = SubmitOn({"dev", "qemu"});
  submit.request.mutable_suite()->mutable_lanes(1)->add_requires_pass("l-dev");
  Do(submit);
  Recovered stored = Stored();
  v1::Job& scalar = stored.jobs[0];
  scalar.set_state(v1::JOB_STATE_DONE);
  scalar.mutable_outcome()->set_verdict(v1::VERDICT_CANCELLED);
  const absl::StatusOr<Start> start = MakeState(stored, now_);
  ASSERT_TRUE(start.ok()) << start.status();
  EXPECT_THAT(Text(start->effects.writes),
              ElementsAre("record 1 of 2 NO_VERDICT(prerequisite)", "job 2 DONE NO_VERDICT(prerequisite)"));
}

TEST_F(RecoverTest, ContradictionsStopTheStart) {
  Do(Hello(1, "a", {"dev"}));
  Do(SubmitOn({"dev"}));
  const auto fault = [&](auto break_it) {
    Recovered stored = Stored();
    break_it(stored);
    const absl::StatusOr<Start> start = MakeState(stored, now_);
    return start.ok() ? std::string("it starts") : std::string(start.status().message());
  };
  EXPECT_THAT(fault([](Recovered& stored) { stored.specs.clear(); }), HasSubstr("job 1 has no spec"));
  EXPECT_THAT(fault([](Recovered& stored) { stored.attempts.clear(); }), HasSubstr("job 1 runs without an attempt"));
  EXPECT_THAT(fault([](Recovered& stored) { stored.jobs.clear(); }), HasSubstr("attempt 1 has no job"));
  EXPECT_THAT(fault([](Recovered& stored) { stored.agents.clear(); }), HasSubstr("resource dev has no agent a"));
  EXPECT_THAT(fault([](Recovered& stored) { stored.jobs[0].set_state(v1::JOB_STATE_QUEUED); }),
              HasSubstr("attempt 1 is live; its job 1"));
  EXPECT_THAT(fault([](Recovered& stored) { stored.leases[0].set_attempt_id(9); }),
              HasSubstr("held by attempt 9, which is not live"));
  EXPECT_THAT(fault([](Recovered& stored) { stored.tokens.clear(); }), HasSubstr("past the last token"));
  EXPECT_THAT(fault([](Recovered& stored) { stored.leases.clear(); }), HasSubstr("attempt 1 does not hold"));
}

}  // namespace
}  // namespace pyptox::controller
