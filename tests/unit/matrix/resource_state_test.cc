#include "matrix/resource_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyptox::matrix {
namespace {

using testing::HasSubstr;

v1::OrderResourceRequest Pause() {
  v1::OrderResourceRequest request;
  request.set_name("a2");
  request.set_state(v1::RESOURCE_STATE_PAUSED);
  request.set_reason("94 h are left");
  request.set_person("ann");
  return request;
}

TEST(ResourceState, SeenStatesAreNotOrdered) {
  for (int i = 0; i <= v1::ResourceState_MAX + 1; ++i) {
    const auto state = static_cast<v1::ResourceState>(i);
    const bool seen = state == v1::RESOURCE_STATE_BUSY || state == v1::RESOURCE_STATE_OFFLINE;
    EXPECT_EQ(IsOrderable(state), i > 0 && i <= v1::ResourceState_MAX && !seen) << ResourceStateWord(state);
  }
}

TEST(ResourceState, AnOrderHasAReasonAndAPerson) {
  EXPECT_TRUE(CheckOrder(Pause()).ok());
  v1::OrderResourceRequest order = Pause();
  order.clear_reason();
  EXPECT_THAT(CheckOrder(order).ToString(), HasSubstr("reason: empty"));
  order.set_state(v1::RESOURCE_STATE_AVAILABLE);
  EXPECT_TRUE(CheckOrder(order).ok()) << "the end of an order needs none";
  order.set_until("Monday");
  EXPECT_THAT(CheckOrder(order).ToString(), HasSubstr("until: "));
  order = Pause();
  order.clear_person();
  EXPECT_THAT(CheckOrder(order).ToString(), HasSubstr("person: empty"));
  order = Pause();
  order.set_state(v1::RESOURCE_STATE_BUSY);
  EXPECT_THAT(CheckOrder(order).ToString(), HasSubstr("state: BUSY is not one that a person can set"));
}

TEST(ResourceState, TextsAreOneLineAndBounded) {
  v1::OrderResourceRequest order = Pause();
  order.set_reason(std::string(kMaxOrderText, 'x'));
  EXPECT_TRUE(CheckOrder(order).ok());
  order.set_reason(std::string(kMaxOrderText + 1, 'x'));
  EXPECT_THAT(CheckOrder(order).ToString(), HasSubstr("reason: 1001 bytes; at most 1000"));
  order = Pause();
  order.set_until("a\nb");
  EXPECT_THAT(CheckOrder(order).ToString(), HasSubstr("until: has a control character"));
}

TEST(ResourceState, OnlyBlockedStatesEndJobs) {
  EXPECT_EQ(VerdictUnder(v1::RESOURCE_STATE_BLOCKED_DEVICE), v1::VERDICT_BLOCKED_DEVICE);
  EXPECT_EQ(VerdictUnder(v1::RESOURCE_STATE_BLOCKED_TOOLCHAIN), v1::VERDICT_BLOCKED_TOOLCHAIN);
  EXPECT_EQ(VerdictUnder(v1::RESOURCE_STATE_QUARANTINED), v1::VERDICT_UNSPECIFIED);
}

}  // namespace
}  // namespace pyptox::matrix
