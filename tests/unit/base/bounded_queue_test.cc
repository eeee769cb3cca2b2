#include "base/bounded_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>

namespace pyptox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(BoundedQueue, RefusesWhenFullAndKeepsOrder) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_TRUE(queue.TryPush(2));
  EXPECT_FALSE(queue.TryPush(3));
  EXPECT_THAT(queue.PopBatch(1, Seconds(0)), ElementsAre(1));
  EXPECT_TRUE(queue.TryPush(4));
  EXPECT_THAT(queue.PopBatch(10, Seconds(0)), ElementsAre(2, 4));
  EXPECT_THAT(queue.PopBatch(10, Milliseconds(1)), IsEmpty());
}

TEST(BoundedQueue, DrainsAfterCloseAndTakesNothingMore) {
  BoundedQueue<int> queue(4);
  ASSERT_TRUE(queue.TryPush(1));
  EXPECT_FALSE(queue.closed());
  queue.Close();
  EXPECT_TRUE(queue.closed());
  EXPECT_FALSE(queue.TryPush(2));
  EXPECT_FALSE(queue.Push(3));
  EXPECT_THAT(queue.PopBatch(10, Seconds(60)), ElementsAre(1));
  EXPECT_THAT(queue.PopBatch(10, Seconds(60)), IsEmpty());  // closed: does not wait
}

TEST(BoundedQueue, TakesWhatCanOnlyBeMoved) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  ASSERT_TRUE(queue.Push(std::make_unique<int>(7)));
  EXPECT_EQ(*queue.PopBatch(1, Seconds(0)).at(0), 7);
}

TEST(BoundedQueue, LosesNothingBetweenThreads) {
  constexpr int kProducers = 4, kEach = 500;
  BoundedQueue<int> queue(8);
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&queue, p] {
      for (int i = 0; i < kEach; ++i) EXPECT_TRUE(queue.Push(p * kEach + i));
    });
  }
  std::vector<int> got;
  while (got.size() < kProducers * kEach) {
    for (int item : queue.PopBatch(16, Seconds(60))) got.push_back(item);
  }
  for (std::thread& producer : producers) producer.join();
  std::vector<int> wanted(kProducers * kEach);
  std::iota(wanted.begin(), wanted.end(), 0);
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, wanted);
}

TEST(BoundedQueue, CloseWakesAProducerThatWaits) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.Push(1));
  std::thread producer([&queue] { EXPECT_FALSE(queue.Push(2)); });
  queue.Close();
  producer.join();
}

}  // namespace
}  // namespace pyptox
