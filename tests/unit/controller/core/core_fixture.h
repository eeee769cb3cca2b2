// A controller's core, a clock, and short ways to say what happens to it. Invariants are checked after every step.
#ifndef PYPTOX_TESTS_UNIT_CONTROLLER_CORE_CORE_FIXTURE_H_
#define PYPTOX_TESTS_UNIT_CONTROLLER_CORE_CORE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/core/recover.h"
#include "controller/core/step.h"
#include "tests/unit/controller/core/effect_text.h"

namespace pyptox::controller {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CoreTest : public testing::Test {
 protected:
  CoreTest() : state_(std::move(MakeState({}, now_).value().state)) {}

  Effects Do(const Event& event) {
    Effects effects = Step(state_, event, now_);
    const absl::Status status = CheckInvariants(state_);
    EXPECT_TRUE(status.ok()) << status;
    return effects;
  }
  std::vector<std::string> Actions(const Event& event) { return Text(Do(event).actions); }
  std::vector<std::string> Writes(const Event& event) { return Text(Do(event).writes); }

  // Time passes as in the real shell: second by second. Everything that happens then.
  std::vector<std::string> Wait(int seconds) {
    std::vector<std::string> all;
    for (int i = 0; i < seconds; ++i) {
      now_.mono = now_.mono + Seconds(1);
      now_.wall.unix_ns += Seconds(1).ns;
      const Effects effects = Do(Tick{});
      for (const std::string& line : Text(effects.writes)) all.push_back(line);
      for (const std::string& line : Text(effects.actions)) all.push_back(line);
    }
    return all;
  }
  // The same while the agent of `session` sends its heartbeats.
  std::vector<std::string> WaitAlive(int seconds, uint64_t session, const std::vector<uint64_t>& attempts) {
    std::vector<std::string> all;
    for (int i = 0; i < seconds; ++i) {
      for (const std::string& line : Wait(1)) all.push_back(line);
      if (i % 2 == 0) Do(Heartbeat(session, attempts));
    }
    return all;
  }

  // A suite with one case and lanes `l-RESOURCE` on the resources.
  static v1::SubmitRequest On(const std::vector<std::string>& resources) {
    v1::SubmitRequest request;
    v1::Suite& suite = *request.mutable_suite();
    suite.set_name("s");
    suite.set_planned(2);
    suite.add_cases()->set_name("one");
    suite.add_cases()->set_name("two");
    for (const std::string& resource : resources) {
      v1::Lane& lane = *suite.add_lanes();
      lane.set_name("l-" + resource);
      lane.set_target("cpu-scalar");
      lane.mutable_resource()->set_name(resource);
    }
    request.mutable_source()->set_head("abc");
    request.mutable_source()->set_tree_sha256("tree");
    return request;
  }
  Submit SubmitOn(const std::vector<std::string>& resources, int priority = 0) {
    Submit submit{++request_id_, On(resources), "ann"};
    submit.request.set_priority(priority);
    return submit;
  }

  using Observed = std::map<uint64_t, v1::ObservedState>;
  AgentHello Hello(uint64_t session, const std::string& agent, const std::vector<std::string>& resources,
                   const Observed& observed = {}, uint64_t epoch = 1, const std::string& journal = "j1") {
    AgentHello event{session, {}};
    event.hello.set_agent(agent);
    event.hello.set_journal_id(journal);
    event.hello.set_epoch(epoch);
    for (const std::string& name : resources) event.hello.add_resources()->set_name(name);
    for (const auto& [id, observed_state] : observed) {
      v1::ObservedAttempt& attempt = *event.hello.add_attempts();
      attempt.set_attempt_id(id);
      attempt.set_state(observed_state);
      *attempt.mutable_locks() = LocksOf(id);
    }
    return event;
  }
  AgentSaid Heartbeat(uint64_t session, const std::vector<uint64_t>& attempts) {
    AgentSaid said{session, {}};
    said.message.mutable_heartbeat()->set_sequence(++heartbeat_);
    for (const uint64_t id : attempts) said.message.mutable_heartbeat()->add_attempt_ids(id);
    return said;
  }
  AgentSaid Started(uint64_t session, uint64_t attempt) {
    AgentSaid said{session, {}};
    said.message.mutable_started()->set_attempt_id(attempt);
    return said;
  }
  AgentSaid Finished(uint64_t session, uint64_t attempt, v1::Verdict verdict, const std::string& kind = "") {
    AgentSaid said{session, {}};
    v1::AttemptFinished& finished = *said.message.mutable_finished();
    finished.set_attempt_id(attempt);
    *finished.mutable_locks() = LocksOf(attempt);
    v1::Evidence& evidence = *finished.mutable_evidence();
    evidence.mutable_outcome()->set_verdict(verdict);
    evidence.mutable_outcome()->set_kind(kind);
    for (const char* name : {"one", "two"}) {
      v1::CaseResult& result = *evidence.add_cases();
      result.set_name(name);
      result.set_outcome(verdict == v1::VERDICT_PASS ? v1::CASE_OUTCOME_PASS : v1::CASE_OUTCOME_MISMATCH);
    }
    return said;
  }
  std::vector<std::string> Reasons(uint64_t job_id) {
    const Effects effects = Do(Explain{++request_id_, job_id});
    const auto& response = std::get<v1::ExplainJobResponse>(std::get<Reply>(effects.actions.back()).message);
    return {response.reasons().begin(), response.reasons().end()};
  }
  const v1::Job& Job(uint64_t id) const { return state_.jobs.at(id).job; }
  // The locks of a live attempt, else those it would have if all tokens were 1.
  google::protobuf::RepeatedPtrField<v1::HeldLock> LocksOf(uint64_t attempt) {
    if (const auto live = state_.attempts.find(attempt); live != state_.attempts.end()) {
      remembered_[attempt] = live->second.attempt.locks();
    }
    return remembered_[attempt];
  }

  Now now_{MonoTime{Seconds(1000).ns}, WallTime{Seconds(1'700'000'000).ns}};
  State state_;
  uint64_t request_id_ = 0;
  uint64_t heartbeat_ = 0;
  std::map<uint64_t, google::protobuf::RepeatedPtrField<v1::HeldLock>> remembered_;
};

}  // namespace pyptox::controller

#endif  // PYPTOX_TESTS_UNIT_CONTROLLER_CORE_CORE_FIXTURE_H_
