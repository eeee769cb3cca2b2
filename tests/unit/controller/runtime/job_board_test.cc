#include "controller/runtime/job_board.h"

#include <thread>

#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

v1::Job JobAt(uint64_t id, v1::JobState state) {
  v1::Job job;
  job.set_id(id);
  job.set_state(state);
  return job;
}

TEST(JobBoard, GivesTheNewestStateOnce) {
  JobBoard board;
  const auto watch = board.Watch(7);
  EXPECT_FALSE(watch->Next({}).has_value());
  board.Publish(JobAt(7, v1::JOB_STATE_QUEUED));
  board.Publish(JobAt(8, v1::JOB_STATE_DONE));
  board.Publish(JobAt(7, v1::JOB_STATE_RUNNING));
  EXPECT_EQ(watch->Next({})->state(), v1::JOB_STATE_RUNNING);
  EXPECT_FALSE(watch->Next({}).has_value());
}

TEST(JobBoard, ServesSeveralWatchersOfOneJob) {
  JobBoard board;
  const auto a = board.Watch(1);
  { const auto gone = board.Watch(1); }
  const auto b = board.Watch(1);
  board.Publish(JobAt(1, v1::JOB_STATE_DONE));
  EXPECT_TRUE(a->Next({}).has_value());
  EXPECT_TRUE(b->Next({}).has_value());
}

TEST(JobBoard, WakesAWaiter) {
  JobBoard board;
  const auto watch = board.Watch(1);
  std::thread publisher([&] { board.Publish(JobAt(1, v1::JOB_STATE_DONE)); });
  EXPECT_TRUE(watch->Next(Seconds(60)).has_value());
  publisher.join();
}

}  // namespace
}  // namespace pyptox::controller
