#include "controller/rpc/stream_slots.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

TEST(StreamSlots, CapsOneIdentityOverItsPorts) {
  StreamSlots slots;
  std::vector<StreamSlots::Slot> held;
  for (int i = 0; i < kMaxStreamsPerIdentity; ++i) {
    held.push_back(slots.Take("ipv4:127.0.0.1:" + std::to_string(1000 + i)));
    ASSERT_NE(held.back(), nullptr);
  }
  EXPECT_EQ(slots.Take("ipv4:127.0.0.1:9"), nullptr);
  EXPECT_NE(slots.Take("ipv4:127.0.0.2:9"), nullptr);
  EXPECT_NE(slots.Take("unix:"), nullptr);
  held.pop_back();
  EXPECT_NE(slots.Take("ipv4:127.0.0.1:9"), nullptr) << "a slot that was given back is free";
}

}  // namespace
}  // namespace pyptox::controller
