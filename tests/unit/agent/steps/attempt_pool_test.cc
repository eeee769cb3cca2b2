#include "agent/steps/attempt_pool.h"

#include <map>

#include "base/bounded_queue.h"
#include "tests/unit/agent/steps/attempt_bench.h"

namespace pyptox::agent {
namespace {

class AttemptPoolTest : public AttemptBench {
 protected:
  AttemptPoolTest() {
    lane().mutable_run()->add_argv("sh");
    lane().mutable_run()->add_argv("-c");
    lane().mutable_run()->add_argv("echo ready; exec sleep 1000");
    lane().mutable_run()->mutable_report()->set_file("build/report");
    lane().mutable_run()->mutable_report()->set_planned(1);
    news_.progressed = [this](uint64_t attempt, const v1::Progress& progress) {
      if (progress.step() == "run") Note("running " + std::to_string(attempt));
    };
    news_.began = [](uint64_t) {};
    news_.log_grew = [](uint64_t, uint64_t) {};
    news_.done = [this](uint64_t attempt, const v1::Evidence& evidence) {
      Note("done " + std::to_string(attempt) + " " + matrix::OutcomeWord(evidence.outcome()) + " " +
           evidence.outcome().reason());
    };
  }
  void Note(std::string text) { ASSERT_TRUE(notes_.Push(std::move(text))); }
  std::string Next() {
    while (true) {
      std::vector<std::string> batch = notes_.PopBatch(1, Seconds(1));
      if (!batch.empty()) return batch.front();
    }
  }
  v1::Assign Attempt(uint64_t id) {
    v1::Assign assign = assign_;
    assign.set_attempt_id(id);
    return assign;
  }
  BoundedQueue<std::string> notes_{100};
};

TEST_F(AttemptPoolTest, SeveralAtOnceAndEachKilledAlone) {
  AttemptPool pool(settings_, news_);
  pool.Start(Attempt(1));
  EXPECT_EQ(Next(), "running 1");
  pool.Start(Attempt(2));
  EXPECT_EQ(Next(), "running 2");
  pool.Start(Attempt(2));  // a repeat
  pool.Kill(9, "unknown");
  pool.Kill(1, "a person asked");
  pool.Kill(1, "again");
  EXPECT_EQ(Next(), "done 1 CANCELLED a person asked");
  pool.Kill(1, "too late");
  pool.Kill(2, "enough");
  EXPECT_EQ(Next(), "done 2 CANCELLED enough");
  pool.Start(Attempt(3));
  EXPECT_EQ(Next(), "running 3");
  pool.Stop();
  EXPECT_EQ(Next().substr(0, 16), "done 3 CANCELLED");
}

}  // namespace
}  // namespace pyptox::agent
