// What people order about resources, and what becomes of the jobs that want them.
#include "tests/unit/controller/core/core_fixture.h"

namespace pyptox::controller {
namespace {

class OrdersTest : public CoreTest {
 protected:
  OrdersTest() { Do(Hello(1, "a", {"dev"})); }

  OrderResource Order(v1::ResourceState state, const std::string& name = "dev") {
    OrderResource order{++request_id_, {}};
    order.request.set_name(name);
    order.request.set_state(state);
    order.request.set_person("ann");
    if (state != v1::RESOURCE_STATE_AVAILABLE) order.request.set_reason("the rent is over");
    return order;
  }
  OrderResource Pause() {
    OrderResource order = Order(v1::RESOURCE_STATE_PAUSED);
    order.request.set_until("Monday");
    return order;
  }
  OrderResource Resume() { return Order(v1::RESOURCE_STATE_AVAILABLE); }
};

TEST_F(OrdersTest, APausedResourceHoldsItsJobsAndSaysWhatTheyWaitFor) {
  EXPECT_THAT(Writes(Pause()), ElementsAre("order 1 dev PAUSED by ann", "resource dev PAUSED by 0", "counters 0 0 0"));
  EXPECT_THAT(Actions(SubmitOn({"dev"})), ElementsAre("changed 1 QUEUED", "reply 2 OK"));
  EXPECT_THAT(Reasons(1), ElementsAre("resource dev is PAUSED by ann: the rent is over (until Monday); it waits for "
                                      "`pyptox-ctl resource resume dev`"));
  EXPECT_THAT(Actions(Resume()), ElementsAre("changed 1 RUNNING", "to 1: assign 1", "reply 4 OK"));
}

TEST_F(OrdersTest, TheQueueLimitDoesNotRunWhileAnOrderHoldsAJob) {
  Do(Pause());
  Submit submit = SubmitOn({"dev"});
  submit.request.mutable_suite()->mutable_lanes(0)->mutable_limits()->set_queue_s(10);
  Do(submit);
  WaitAlive(30, 1, {});
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_QUEUED);
  Do(AgentGone{1});
  Do(Resume());
  Wait(9);
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_QUEUED);
  Wait(2);
  EXPECT_EQ(Job(1).outcome().verdict(), v1::VERDICT_TIMEOUT);
}

TEST_F(OrdersTest, HeldJobsAge) {
  Do(SubmitOn({"dev"}));
  Do(Order(v1::RESOURCE_STATE_DRAINING));
  Do(SubmitOn({"dev"}));  // job 2, held for more than one step of priority is worth
  WaitAlive(90, 1, {1});
  Do(Resume());
  Do(SubmitOn({"dev"}, 1));  // job 3 comes later, with a priority one higher
  EXPECT_THAT(Actions(Finished(1, 1, v1::VERDICT_PASS)), Contains("changed 2 RUNNING"));
  EXPECT_EQ(Job(3).state(), v1::JOB_STATE_QUEUED);
}

TEST_F(OrdersTest, AHeldResourceIsNotPausedButDrained) {
  Do(SubmitOn({"dev"}));
  Do(SubmitOn({"dev"}));
  for (const auto state : {v1::RESOURCE_STATE_PAUSED, v1::RESOURCE_STATE_RELEASED, v1::RESOURCE_STATE_BLOCKED_DEVICE,
                           v1::RESOURCE_STATE_BLOCKED_TOOLCHAIN}) {
    const Effects refused = Do(Order(state));
    EXPECT_THAT(std::get<Reply>(refused.actions.at(0)).status.ToString(), HasSubstr("dev is held by job 1"));
    EXPECT_THAT(Text(refused.writes), IsEmpty());
  }
  Do(Order(v1::RESOURCE_STATE_DRAINING));
  EXPECT_EQ(state_.resources.at("dev").holder_job_id(), 1u);
  Do(Finished(1, 1, v1::VERDICT_PASS));
  EXPECT_EQ(Job(1).outcome().verdict(), v1::VERDICT_PASS);
  EXPECT_EQ(Job(2).state(), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(state_.resources.at("dev").state(), v1::RESOURCE_STATE_DRAINING);
  EXPECT_THAT(Actions(Order(v1::RESOURCE_STATE_PAUSED)), Contains(HasSubstr("OK"))) << "nobody holds it now";
}

TEST_F(OrdersTest, ABlockedResourceEndsItsJobsBlocked) {
  Do(Order(v1::RESOURCE_STATE_PAUSED));
  Do(SubmitOn({"dev"}));
  EXPECT_THAT(Writes(Order(v1::RESOURCE_STATE_BLOCKED_TOOLCHAIN)), Contains("job 1 DONE BLOCKED_TOOLCHAIN"));
  EXPECT_THAT(Job(1).outcome().reason(), HasSubstr("BLOCKED_TOOLCHAIN by ann: the rent is over"));
  EXPECT_NE(Job(1).record_id(), 0u);
  Do(Order(v1::RESOURCE_STATE_BLOCKED_DEVICE));
  EXPECT_THAT(Writes(SubmitOn({"dev"})), Contains("job 2 DONE BLOCKED_DEVICE"));
}

TEST_F(OrdersTest, TheSameOrderAgainChangesNothing) {
  Do(Pause());
  EXPECT_THAT(Writes(Pause()), IsEmpty());
  EXPECT_THAT(Writes(Order(v1::RESOURCE_STATE_PAUSED)), Not(IsEmpty())) << "another until";
  Do(Resume());
  EXPECT_THAT(Writes(Resume()), IsEmpty());
}

TEST_F(OrdersTest, UnknownResourcesAndBadOrdersAreRefused) {
  EXPECT_THAT(Actions(Order(v1::RESOURCE_STATE_PAUSED, "none")), ElementsAre("reply 1 NOT_FOUND"));
  EXPECT_THAT(Actions(Order(v1::RESOURCE_STATE_BUSY)), ElementsAre("reply 2 INVALID_ARGUMENT"));
}

TEST_F(OrdersTest, OrdersOutliveTheAgentAndTheController) {
  Do(Pause());
  Do(AgentGone{1});
  EXPECT_EQ(state_.resources.at("dev").state(), v1::RESOURCE_STATE_PAUSED);
  EXPECT_EQ(state_.resources.at("dev").health(), v1::RESOURCE_HEALTH_SILENT);
  Recovered recovered;
  recovered.counters = state_.counters;
  for (const auto& [name, entry] : state_.agents) recovered.agents.push_back(entry.agent);
  for (const auto& [name, resource] : state_.resources) recovered.resources.push_back(resource);
  state_ = MakeState(recovered, now_).value().state;
  Do(Hello(1, "a", {"dev"}, {}, 2));
  EXPECT_EQ(state_.resources.at("dev").health(), v1::RESOURCE_HEALTH_ANSWERS);
  Do(SubmitOn({"dev"}));
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Writes(Resume()), Contains("order 2 dev AVAILABLE by ann"));
  EXPECT_EQ(Job(1).state(), v1::JOB_STATE_RUNNING);
}

}  // namespace
}  // namespace pyptox::controller
