#include "agent/link/chores.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace pyptox::agent {
namespace {

TEST(ChoresTest, OneAfterTheOtherByDueTime) {
  Chores chores;
  std::vector<int> order;
  std::promise<void> begin, done;
  chores.Add([&] { begin.get_future().wait(); });
  chores.Add(
      [&] {
        order.push_back(3);
        done.set_value();
      },
      Milliseconds(60));
  chores.Add([&] { order.push_back(1); });
  chores.Add([&] { order.push_back(2); });
  begin.set_value();
  done.get_future().wait();
  chores.Stop();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(ChoresTest, AChoreMayAddOneAndStopDropsTheRest) {
  Chores chores;
  std::promise<void> done;
  chores.Add([&] { chores.Add([&] { done.set_value(); }); });
  done.get_future().wait();
  chores.Add([] { ADD_FAILURE() << "not due"; }, Seconds(3600));
  chores.Stop();
  chores.Add([] { ADD_FAILURE() << "stopped"; });
}

}  // namespace
}  // namespace pyptox::agent
