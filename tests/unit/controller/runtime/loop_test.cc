#include "controller/runtime/loop.h"

#include <atomic>
#include <future>
#include <latch>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/recover.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace pyptox::controller {
namespace {

using testing::HasSubstr;

// Keeps what it is sent.
class RecordingSink final : public AgentSink {
 public:
  void Send(v1::ControllerMessage message) override {
    std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
    changed_.notify_all();
  }
  void Close(absl::Status status) override {
    std::lock_guard lock(mutex_);
    closed_ = std::move(status);
    changed_.notify_all();
  }
  v1::ControllerMessage WaitFor(v1::ControllerMessage::BodyCase kind) {
    std::unique_lock lock(mutex_);
    v1::ControllerMessage found;
    const auto have = [&] {
      for (const auto& message : messages_) {
        if (message.body_case() == kind) found = message;
      }
      return found.body_case() == kind;
    };
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), have));
    return found;
  }
  absl::Status WaitForClose() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [&] { return closed_.has_value(); }));
    return closed_.value_or(absl::UnknownError("still open"));
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return messages_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::ControllerMessage> messages_;
  std::optional<absl::Status> closed_;
};

v1::SubmitRequest OneJob() {
  v1::SubmitRequest request;
  request.mutable_suite()->set_name("s");
  v1::Lane* lane = request.mutable_suite()->add_lanes();
  lane->set_name("cpu-scalar@dev");
  lane->set_target("cpu-scalar");
  lane->mutable_resource()->set_name("dev");
  request.mutable_suite()->add_cases()->set_name("c");
  request.mutable_suite()->set_planned(1);
  return request;
}

v1::Hello HelloFrom(const std::string& agent) {
  v1::Hello hello;
  hello.set_agent(agent);
  hello.set_journal_id(std::string(32, 'a'));
  hello.set_epoch(1);
  hello.add_resources()->set_name("dev");
  hello.mutable_resources(0)->set_backend("cpu");
  return hello;
}

class LoopTest : public testing::Test {
 protected:
  LoopTest() {
    logs_ = *LogFiles::Open(folder_ / "logs", [](absl::Status status) { ADD_FAILURE() << status; });
  }
  void Start(size_t capacity = kLoopQueueCapacity) {
    auto start = MakeState(Recovered{}, ReadClocks());
    ASSERT_TRUE(start.ok()) << start.status();
    LoopPorts ports;
    ports.commit = [this](const std::vector<Write>& writes) { return commit_(writes); };
    ports.spec_of = [](uint64_t) { return v1::JobSpec(); };
    ports.on_fatal = [this](const absl::Status& status) { fatal_.set_value(status); };
    ports.logs = logs_.get();
    ports.board = &board_;
    loop_ = std::make_unique<Loop>(*std::move(start), ports, capacity);
  }

  TempFolder folder_;
  std::unique_ptr<LogFiles> logs_;
  JobBoard board_;
  std::function<absl::Status(const std::vector<Write>&)> commit_ = [](const auto&) { return absl::OkStatus(); };
  std::promise<absl::Status> fatal_;
  std::unique_ptr<Loop> loop_;
};

TEST_F(LoopTest, CommitsBeforeItAnswers) {
  std::atomic<bool> committed = false;
  commit_ = [&](const std::vector<Write>& writes) {
    for (const Write& write : writes) committed = committed || std::holds_alternative<PutJob>(write);
    return absl::OkStatus();
  };
  Start();
  const auto watch = board_.Watch(1);
  const auto answer = loop_->Submit(OneJob());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_TRUE(committed);
  ASSERT_EQ(answer->jobs_size(), 1);
  EXPECT_EQ(answer->jobs(0).id(), 1u);
  EXPECT_EQ(watch->Next(Seconds(60))->state(), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(loop_->CancelJob(1, "no")->outcome().verdict(), v1::VERDICT_CANCELLED);
  EXPECT_EQ(loop_->CancelJob(2, "no").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(loop_->ExplainJob(1).ok());
}

TEST_F(LoopTest, TakesABatchInOneCommit) {
  std::latch entered(1), go(1);
  std::atomic<int> commits = 0;
  commit_ = [&](const std::vector<Write>&) {
    if (commits++ == 0) {
      entered.count_down();
      go.wait();
    }
    return absl::OkStatus();
  };
  Start();
  std::vector<std::future<bool>> callers;
  callers.push_back(std::async(std::launch::async, [&] { return loop_->Submit(OneJob()).ok(); }));
  entered.wait();
  // These are queued while the first commit is under way; destroying the loop handles them all.
  for (int i = 0; i < 20; ++i) {
    const auto session = loop_->OpenSession(HelloFrom("agent-" + std::to_string(i)), std::make_shared<RecordingSink>());
    EXPECT_TRUE(session.ok());
    EXPECT_EQ(*session, static_cast<uint64_t>(i + 1));
  }
  go.count_down();
  loop_.reset();
  EXPECT_TRUE(callers[0].get());
  EXPECT_LE(commits, 3) << "20 events shared a commit";
}

TEST_F(LoopTest, AFullQueueSaysSo) {
  std::latch entered(1), go(1);
  std::atomic<bool> first = true;
  commit_ = [&](const std::vector<Write>&) {
    if (first.exchange(false)) {
      entered.count_down();
      go.wait();
    }
    return absl::OkStatus();
  };
  Start(2);
  auto held = std::async(std::launch::async, [&] { return loop_->Submit(OneJob()).ok(); });
  entered.wait();
  EXPECT_TRUE(loop_->PostFromAgent(1, {}).ok());
  EXPECT_TRUE(loop_->PostFromAgent(1, {}).ok());
  EXPECT_EQ(loop_->PostFromAgent(1, {}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(loop_->Submit(OneJob()).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(loop_->OpenSession(HelloFrom("a"), std::make_shared<RecordingSink>()).status().code(),
            absl::StatusCode::kResourceExhausted);
  go.count_down();
  EXPECT_TRUE(held.get());
}

TEST_F(LoopTest, AFailedCommitStopsEverythingAndPromisesNothing) {
  Start();
  const auto sink = std::make_shared<RecordingSink>();
  ASSERT_TRUE(loop_->OpenSession(HelloFrom("a"), sink).ok());
  sink->WaitFor(v1::ControllerMessage::kWelcome);
  const size_t sent = sink->count();
  commit_ = [](const std::vector<Write>&) { return absl::InternalError("fsync: Input/output error"); };
  const auto answer = loop_->Submit(OneJob());
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(fatal_.get_future().get().message()), HasSubstr("fsync"));
  EXPECT_EQ(sink->count(), sent) << "no Assign may leave";
  EXPECT_EQ(loop_->ExplainJob(1).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(LoopTest, WelcomeSaysHowMuchLogThereIs) {
  Start();
  const auto sink = std::make_shared<RecordingSink>();
  ASSERT_TRUE(loop_->OpenSession(HelloFrom("a"), sink).ok());
  ASSERT_TRUE(loop_->Submit(OneJob()).ok());
  const v1::Assign assign = sink->WaitFor(v1::ControllerMessage::kAssign).assign();
  ASSERT_TRUE(logs_->Append("a", assign.attempt_id(), 0, "12345").ok());
  std::promise<void> durable;
  logs_->WhenDurable(assign.attempt_id(), [&](uint64_t) { durable.set_value(); });
  durable.get_future().get();
  v1::Hello again = HelloFrom("a");
  v1::ObservedAttempt* running = again.add_attempts();
  running->set_attempt_id(assign.attempt_id());
  running->set_state(v1::OBSERVED_STATE_RUNNING);
  *running->mutable_locks() = assign.locks();
  const auto newer = std::make_shared<RecordingSink>();
  ASSERT_TRUE(loop_->OpenSession(again, newer).ok());
  const v1::Welcome welcome = newer->WaitFor(v1::ControllerMessage::kWelcome).welcome();
  ASSERT_EQ(welcome.logs_size(), 1);
  EXPECT_EQ(welcome.logs(0).attempt_id(), assign.attempt_id());
  EXPECT_EQ(welcome.logs(0).bytes(), 5u);
  EXPECT_EQ(sink->WaitForClose().code(), absl::StatusCode::kAborted);
}

TEST_F(LoopTest, AnEndedAttemptTakesNoMoreLog) {
  Start();
  const auto sink = std::make_shared<RecordingSink>();
  const auto session = loop_->OpenSession(HelloFrom("a"), sink);
  ASSERT_TRUE(session.ok());
  ASSERT_TRUE(loop_->Submit(OneJob()).ok());
  const v1::Assign assign = sink->WaitFor(v1::ControllerMessage::kAssign).assign();
  v1::AgentMessage message;
  message.mutable_finished()->set_attempt_id(assign.attempt_id());
  *message.mutable_finished()->mutable_locks() = assign.locks();
  message.mutable_finished()->mutable_evidence()->mutable_outcome()->set_verdict(v1::VERDICT_FAIL);
  ASSERT_TRUE(loop_->PostFromAgent(*session, message).ok());
  sink->WaitFor(v1::ControllerMessage::kFinishedAck);
  ASSERT_TRUE(logs_->Append("a", assign.attempt_id(), 0, "late").ok());
  EXPECT_EQ(*logs_->Read(assign.attempt_id(), 0, 10), "");
}

}  // namespace
}  // namespace pyptox::controller
