#include "agent/link/agent_loop.h"

#include <sys/stat.h>

#include <optional>
#include <thread>

#include "tests/unit/agent/link/fake_controller.h"
#include "tests/unit/agent/link/scratch_folder.h"

namespace pyptox::agent {
namespace {

// Runs nothing: the test says what attempts do.
class ScriptedExecutor : public AttemptExecutor {
 public:
  void Start(v1::Assign assign) override { ASSERT_TRUE(calls_.Push("start " + std::to_string(assign.attempt_id()))); }
  void Kill(uint64_t attempt, const std::string& reason) override {
    ASSERT_TRUE(calls_.Push("kill " + std::to_string(attempt) + " " + reason));
  }
  std::string Next() {
    while (true) {
      std::vector<std::string> batch = calls_.PopBatch(1, Seconds(1));
      if (!batch.empty()) return batch.front();
    }
  }

 private:
  BoundedQueue<std::string> calls_{100};
};

// One life of an agent.
class Life {
 public:
  Life(const ScratchFolder& folder, const std::string& target)
      : blobs_(*BlobStore::Open(folder / "blobs")),
        journal_(*Journal::Open(folder / "journal")),
        artifacts_(target, blobs_.get()),
        loop_(Options(folder), {journal_.get(), &executor_, &artifacts_, blobs_.get(), &logs_}),
        link_(target, &logs_, loop_.Events()),
        thread_([this] { EXPECT_TRUE(loop_.Run(&link_).ok()); }) {}
  ~Life() {
    loop_.Stop();
    artifacts_.Stop();
    link_.Stop();
    thread_.join();
  }
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<Journal> journal_;
  ScriptedExecutor executor_;
  LogSender logs_;
  ArtifactClient artifacts_;
  AgentLoop loop_;
  LinkClient link_;

 private:
  static AgentLoopOptions Options(const ScratchFolder& folder) {
    AgentLoopOptions options;
    options.agent = "here";
    options.version = "1";
    options.work_root = folder.path();
    options.resources = [] {
      v1::Resource resource;
      resource.set_name("dev");
      resource.set_agent("here");
      return std::vector<v1::Resource>{resource};
    };
    options.note = [](const std::string&) {};
    return options;
  }
  std::thread thread_;
};

class AgentLoopTest : public ::testing::Test {
 protected:
  AgentLoopTest() : target_("unix:" + (folder_ / "socket")), controller_(target_) {
    EXPECT_TRUE(MakeFolders(folder_ / "attempts").ok());
    controller_.Start();
  }
  void Begin() { life_.emplace(folder_, target_); }
  void Restart() {
    life_.reset();
    Begin();
  }
  v1::Hello NextHello() { return controller_.Next(v1::AgentMessage::kHello).hello(); }
  void Welcome(const std::vector<v1::Assign>& assigned = {}, const std::vector<uint64_t>& forget = {}) {
    v1::ControllerMessage message;
    message.mutable_welcome();
    for (const v1::Assign& assign : assigned) *message.mutable_welcome()->add_assigned() = assign;
    for (const uint64_t id : forget) message.mutable_welcome()->add_forget(id);
    controller_.Say(message);
  }
  static v1::Assign Attempt(uint64_t id, uint64_t token) {
    v1::Assign assign;
    assign.set_attempt_id(id);
    assign.set_resource("dev");
    assign.mutable_spec()->set_lane("lane");
    v1::HeldLock* lock = assign.add_locks();
    lock->set_key("resource/dev");
    lock->set_token(token);
    return assign;
  }
  void SayAssign(const v1::Assign& assign) {
    v1::ControllerMessage message;
    *message.mutable_assign() = assign;
    controller_.Say(message);
  }
  void SayAck(uint64_t id, const std::vector<std::string>& missing = {}) {
    v1::ControllerMessage message;
    message.mutable_finished_ack()->set_attempt_id(id);
    for (const std::string& hex : missing) message.mutable_finished_ack()->add_missing_sha256(hex);
    controller_.Say(message);
  }
  void Done(uint64_t id, const std::string& artifact = "") {
    v1::Evidence evidence;
    evidence.mutable_outcome()->set_verdict(v1::VERDICT_PASS);
    if (!artifact.empty()) {
      v1::FileEntry* file = evidence.add_artifacts();
      file->set_name("log/output.log");
      file->set_sha256(life_->blobs_->Put(artifact)->Hex());
    }
    life_->loop_.Post(AttemptDone{id, evidence});
  }
  bool Exists(const std::string& name) const {
    struct stat info {};
    return stat((folder_ / name).c_str(), &info) == 0;
  }
  // Chores are not watched: waits for the folder to go, until the test's limit.
  void WaitUntilGone(const std::string& name) const {
    while (Exists(name)) std::this_thread::yield();
  }

  ScratchFolder folder_;
  const std::string target_;
  FakeController controller_;
  std::optional<Life> life_;
};

TEST_F(AgentLoopTest, OneAttemptFromAssignToForget) {
  Begin();
  const v1::Hello hello = NextHello();
  EXPECT_EQ(hello.agent(), "here");
  EXPECT_EQ(hello.epoch(), 1u);
  EXPECT_EQ(hello.journal_id(), life_->journal_->id());
  ASSERT_EQ(hello.resources_size(), 1);
  Welcome();
  SayAssign(Attempt(7, 1));
  EXPECT_EQ(life_->executor_.Next(), "start 7");
  ASSERT_TRUE(MakeFolders(folder_ / "attempts/7/log").ok());
  folder_.Write("attempts/7/log/output.log", "said\n");
  life_->loop_.Post(AttemptBegan{7});
  EXPECT_EQ(controller_.Next(v1::AgentMessage::kStarted).started().attempt_id(), 7u);
  life_->logs_.Grew(7, 5);
  EXPECT_EQ(controller_.Next(v1::AgentMessage::kLog).log().data(), "said\n");
  Done(7, "artifact");
  v1::AttemptFinished finished = controller_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(finished.attempt_id(), 7u);
  EXPECT_EQ(finished.locks(0).token(), 1u);
  EXPECT_EQ(finished.evidence().outcome().verdict(), v1::VERDICT_PASS);

  const std::string hex = finished.evidence().artifacts(0).sha256();
  SayAck(7, {hex});
  finished = controller_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(controller_.Blobs()[hex], "artifact");
  EXPECT_TRUE(Exists("attempts/7"));
  SayAck(7);
  WaitUntilGone("attempts/7");
  Restart();
  EXPECT_EQ(NextHello().attempts_size(), 0);
}

TEST_F(AgentLoopTest, AnUploadThatFailsIsTriedAgain) {
  Begin();
  controller_.refuse_uploads_ = 1;
  NextHello();
  Welcome({Attempt(7, 1)});
  EXPECT_EQ(life_->executor_.Next(), "start 7");
  Done(7, "artifact");
  const std::string hex = controller_.Next(v1::AgentMessage::kFinished).finished().evidence().artifacts(0).sha256();
  SayAck(7, {hex});
  controller_.Next(v1::AgentMessage::kFinished);
  EXPECT_EQ(controller_.Blobs()[hex], "artifact");
}

TEST_F(AgentLoopTest, AResultOutlivesAgentAndConnection) {
  Begin();
  NextHello();
  Welcome({Attempt(7, 1), Attempt(8, 2)});
  EXPECT_EQ(life_->executor_.Next(), "start 7");
  // The newer token took the lock away.
  EXPECT_EQ(life_->executor_.Next().substr(0, 6), "kill 7");
  Done(7);
  EXPECT_EQ(life_->executor_.Next(), "start 8");
  ASSERT_TRUE(MakeFolders(folder_ / "attempts/8/log").ok());
  folder_.Write("attempts/8/log/output.log", "all of it");
  ASSERT_TRUE(MakeFolders(folder_ / "attempts/6/src").ok());  // of an attempt that nobody knows
  Done(8);
  EXPECT_EQ(controller_.Next(v1::AgentMessage::kFinished).finished().attempt_id(), 8u);
  Restart();
  WaitUntilGone("attempts/6");
  const v1::Hello hello = NextHello();
  EXPECT_EQ(hello.epoch(), 2u);
  ASSERT_EQ(hello.attempts_size(), 1);
  EXPECT_EQ(hello.attempts(0).attempt_id(), 8u);
  EXPECT_EQ(hello.attempts(0).state(), v1::OBSERVED_STATE_FINISHED);
  Welcome();
  // Its log comes again, before it.
  const v1::AgentMessage log = controller_.Next(v1::AgentMessage::kLog);
  EXPECT_EQ(log.log().data(), "all of it");
  EXPECT_EQ(controller_.Next(v1::AgentMessage::kFinished).finished().attempt_id(), 8u);
}

TEST_F(AgentLoopTest, WhatWasRunningIsInterruptedAfterARestart) {
  Begin();
  NextHello();
  Welcome({Attempt(7, 1)});
  EXPECT_EQ(life_->executor_.Next(), "start 7");
  Restart();
  const v1::Hello hello = NextHello();
  ASSERT_EQ(hello.attempts_size(), 1);
  EXPECT_EQ(hello.attempts(0).state(), v1::OBSERVED_STATE_INTERRUPTED);
  Welcome({}, {7});
  // The token stays seen.
  SayAssign(Attempt(9, 1));
  EXPECT_EQ(controller_.Next(v1::AgentMessage::kRefused).refused().outcome().kind(), "stale_token");
  SayAssign(Attempt(10, 2));
  EXPECT_EQ(life_->executor_.Next(), "start 10");
}

TEST_F(AgentLoopTest, ACancelReachesTheExecutor) {
  Begin();
  NextHello();
  Welcome({Attempt(7, 1)});
  EXPECT_EQ(life_->executor_.Next(), "start 7");
  v1::ControllerMessage message;
  message.mutable_cancel()->set_attempt_id(7);
  message.mutable_cancel()->set_reason("a person asked");
  controller_.Say(message);
  EXPECT_EQ(life_->executor_.Next(), "kill 7 a person asked");
}

TEST_F(AgentLoopTest, HeartbeatsFollowTheWelcome) {
  Begin();
  NextHello();
  Welcome({Attempt(7, 1)});
  const v1::Heartbeat heartbeat = controller_.Next(v1::AgentMessage::kHeartbeat).heartbeat();
  EXPECT_EQ(heartbeat.sequence(), 1u);
  EXPECT_EQ(life_->executor_.Next(), "start 7");
}

}  // namespace
}  // namespace pyptox::agent
