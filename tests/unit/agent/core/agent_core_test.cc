// The rules of an agent, with exactly the effects that they must have.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/core/journal.h"
#include "agent/core/step.h"

namespace pyptox::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

struct EffectText {
  std::string operator()(const Accepted& entry) const { return fmt::format("accepted {}", entry.assign.attempt_id()); }
  std::string operator()(const Finished& entry) const {
    return fmt::format("finished {} {}", entry.finished.attempt_id(),
                       v1::Verdict_Name(entry.finished.evidence().outcome().verdict()).substr(8));
  }
  std::string operator()(const Forgotten& entry) const { return fmt::format("forgotten {}", entry.attempt_id); }
  std::string operator()(const TokenSeen& entry) const {
    return fmt::format("token {} {}", entry.token.key(), entry.token.token());
  }
  std::string operator()(const StartAttempt& start) const {
    return fmt::format("start {} of {}", start.assign.attempt_id(), start.assign.spec().suite().name());
  }
  std::string operator()(const KillAttempt& kill) const {
    return fmt::format("kill {}: {}", kill.attempt_id, kill.reason);
  }
  std::string operator()(const UploadThenResend& upload) const {
    return fmt::format("upload {} {}", upload.attempt_id, fmt::join(upload.sha256, " "));
  }
  std::string operator()(const RemoveAttemptFolder& remove) const {
    return fmt::format("remove {}", remove.attempt_id);
  }
  std::string operator()(const DropLink& drop) const { return fmt::format("drop {}: {}", drop.link, drop.reason); }
  std::string operator()(const Send& send) const {
    const v1::AgentMessage& message = send.message;
    const std::string on = fmt::format("on {}: ", send.link);
    switch (message.body_case()) {
      case v1::AgentMessage::kHello: {
        std::string text = on + fmt::format("hello epoch {}", message.hello().epoch());
        for (const v1::ObservedAttempt& attempt : message.hello().attempts()) {
          text += fmt::format(" {}={}", attempt.attempt_id(), v1::ObservedState_Name(attempt.state()).substr(15));
        }
        return text;
      }
      case v1::AgentMessage::kHeartbeat:
        return on + fmt::format("heartbeat {}: {}", message.heartbeat().sequence(),
                                fmt::join(message.heartbeat().attempt_ids(), " "));
      case v1::AgentMessage::kStarted:
        return on + fmt::format("started {}", message.started().attempt_id());
      case v1::AgentMessage::kProgress:
        return on + fmt::format("progress {}", message.progress().progress().cases_done());
      case v1::AgentMessage::kFinished:
        return on + EffectText()(Finished{message.finished()});
      case v1::AgentMessage::kRefused:
        return on + fmt::format("refused {} {}", message.refused().attempt_id(), message.refused().outcome().kind());
      default:
        return on + "?";
    }
  }
};

template <typename Effect>
std::vector<std::string> Text(const std::vector<Effect>& effects) {
  std::vector<std::string> lines;
  for (const Effect& effect : effects) lines.push_back(std::visit(EffectText{}, effect));
  return lines;
}

class AgentCoreTest : public testing::Test {
 protected:
  AgentCoreTest() { Load({}, 1); }

  Effects Do(const Event& event) {
    Effects effects = Step(state_, event, now_);
    const absl::Status status = CheckInvariants(state_);
    EXPECT_TRUE(status.ok()) << status;
    journal_.insert(journal_.end(), effects.journal.begin(), effects.journal.end());
    return effects;
  }
  std::vector<std::string> Actions(const Event& event) { return Text(Do(event).actions); }
  std::vector<std::string> Journal(const Event& event) { return Text(Do(event).journal); }

  std::vector<std::string> Load(std::vector<JournalEntry> entries, uint64_t epoch) {
    state_ = {};
    return Actions(JournalLoaded{"a", "1.0", "j", epoch, std::move(entries)});
  }
  // The agent is killed and starts again on its journal.
  std::vector<std::string> Restart() { return Load(journal_, state_.epoch + 1); }

  static LinkUp Up(uint64_t link) {
    LinkUp up{link, {}};
    for (const char* name : {"dev", "qemu"}) up.resources.emplace_back().set_name(name);
    return up;
  }
  // Attempts by whether the Welcome confirms (true) or forgets them.
  static ControllerSaid Welcome(uint64_t link, const std::map<uint64_t, bool>& attempts = {}) {
    ControllerSaid said{link, {}};
    v1::Welcome& welcome = *said.message.mutable_welcome();
    for (const auto& [id, stays] : attempts) {
      if (stays) welcome.add_assigned()->set_attempt_id(id);
      if (!stays) welcome.add_forget(id);
    }
    return said;
  }
  static ControllerSaid Assign(uint64_t attempt, uint64_t token, const std::string& resource = "dev") {
    ControllerSaid said{1, {}};
    v1::Assign& assign = *said.message.mutable_assign();
    assign.set_attempt_id(attempt);
    assign.set_resource(resource);
    v1::HeldLock& lock = *assign.add_locks();
    lock.set_key("resource/" + resource);
    lock.set_token(token);
    assign.mutable_spec()->mutable_suite()->set_name("s");
    return said;
  }
  static ControllerSaid Ack(uint64_t link, uint64_t attempt, const std::vector<std::string>& missing = {}) {
    ControllerSaid said{link, {}};
    said.message.mutable_finished_ack()->set_attempt_id(attempt);
    for (const std::string& digest : missing) said.message.mutable_finished_ack()->add_missing_sha256(digest);
    return said;
  }
  static ControllerSaid CancelOf(uint64_t attempt) {
    ControllerSaid said{1, {}};
    said.message.mutable_cancel()->set_attempt_id(attempt);
    said.message.mutable_cancel()->set_reason("stop");
    return said;
  }
  static AttemptDone Done(uint64_t attempt, v1::Verdict verdict = v1::VERDICT_PASS) {
    AttemptDone done{attempt, {}};
    done.evidence.mutable_outcome()->set_verdict(verdict);
    return done;
  }
  void Connect() {
    Do(Up(1));
    Do(Welcome(1));
  }
  std::vector<std::string> Wait(Duration length) {
    now_.mono = now_.mono + length;
    return Actions(Tick{});
  }

  Now now_{MonoTime{Seconds(100).ns}, WallTime{Seconds(1'700'000'000).ns}};
  State state_;
  std::vector<JournalEntry> journal_;
};

TEST_F(AgentCoreTest, HelloTellsEverything) {
  const Effects effects = Do(Up(1));
  EXPECT_THAT(Text(effects.actions), ElementsAre("on 1: hello epoch 1"));
  const v1::Hello& hello = std::get<Send>(effects.actions[0]).message.hello();
  EXPECT_EQ(hello.agent(), "a");
  EXPECT_EQ(hello.version(), "1.0");
  EXPECT_EQ(hello.journal_id(), "j");
  EXPECT_EQ(hello.clock_ns(), now_.wall.unix_ns);
  EXPECT_EQ(hello.resources_size(), 2);
}

TEST_F(AgentCoreTest, NothingIsSaidOrDoneBeforeTheWelcome) {
  Do(Up(1));
  EXPECT_THAT(Actions(Assign(1, 1)), IsEmpty());
  EXPECT_THAT(Wait(Seconds(10)), IsEmpty());
  EXPECT_THAT(Actions(Welcome(1)), IsEmpty());
  EXPECT_THAT(Wait(Seconds(0)), ElementsAre("on 1: heartbeat 1: "));
}

TEST_F(AgentCoreTest, AssignIsJournaledThenStartedOnce) {
  Connect();
  const Effects effects = Do(Assign(7, 1));
  EXPECT_THAT(Text(effects.journal), ElementsAre("accepted 7"));
  EXPECT_FALSE(std::get<Accepted>(effects.journal[0]).assign.has_spec());
  EXPECT_THAT(Text(effects.actions), ElementsAre("start 7 of s"));
  const Effects again = Do(Assign(7, 1));
  EXPECT_THAT(again.journal, IsEmpty());
  EXPECT_THAT(again.actions, IsEmpty());
}

TEST_F(AgentCoreTest, ResultIsJournaledSentAndForgottenWhenStored) {
  Connect();
  Do(Assign(7, 1));
  EXPECT_THAT(Actions(AttemptBegan{7}), ElementsAre("on 1: started 7"));
  const Effects done = Do(Done(7));
  EXPECT_THAT(Text(done.journal), ElementsAre("finished 7 PASS"));
  EXPECT_THAT(Text(done.actions), ElementsAre("on 1: finished 7 PASS"));
  EXPECT_EQ(std::get<Send>(done.actions[0]).message.finished().locks(0).token(), 1u);
  const Effects acked = Do(Ack(1, 7));
  EXPECT_THAT(Text(acked.journal), ElementsAre("forgotten 7"));
  EXPECT_THAT(Text(acked.actions), ElementsAre("remove 7"));
  EXPECT_THAT(Actions(Ack(1, 7)), IsEmpty());
  // A late repeat of its Assign is stale.
  EXPECT_THAT(Actions(Assign(7, 1)), ElementsAre("on 1: refused 7 stale_token"));
}

TEST_F(AgentCoreTest, RefusesStaleTokenUnknownResourceAndLowDisk) {
  Connect();
  Do(Assign(7, 5));
  EXPECT_THAT(Actions(Assign(8, 4)), ElementsAre("on 1: refused 8 stale_token"));
  EXPECT_THAT(Actions(Assign(8, 5)), ElementsAre("on 1: refused 8 stale_token"));
  EXPECT_THAT(Actions(Assign(9, 1, "gpu")), ElementsAre("on 1: refused 9 unknown_resource"));
  Do(DiskFloor{true});
  EXPECT_THAT(Actions(Assign(10, 1, "qemu")), ElementsAre("on 1: refused 10 disk_full"));
  Do(DiskFloor{false});
  EXPECT_THAT(Actions(Assign(10, 1, "qemu")), ElementsAre("start 10 of s"));
}

TEST_F(AgentCoreTest, NewerTokenEndsTheOldHolderFirst) {
  Connect();
  Do(Assign(7, 1));
  const Effects effects = Do(Assign(8, 2));
  EXPECT_THAT(Text(effects.journal), ElementsAre("accepted 8"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("kill 7: a newer attempt has its locks"));
  EXPECT_THAT(Actions(Assign(9, 1, "qemu")), ElementsAre("start 9 of s"));
  const Effects done = Do(Done(7, v1::VERDICT_CANCELLED));
  EXPECT_THAT(Text(done.journal), ElementsAre("forgotten 7"));
  EXPECT_THAT(Text(done.actions), ElementsAre("remove 7", "start 8 of s"));
}

TEST_F(AgentCoreTest, WaitingAttemptCanBeSupersededOrCancelled) {
  Connect();
  Do(Assign(7, 1));
  Do(Assign(8, 2));
  EXPECT_THAT(Journal(Assign(9, 3)), ElementsAre("accepted 9", "forgotten 8"));
  const Effects cancelled = Do(CancelOf(9));
  EXPECT_THAT(Text(cancelled.journal), ElementsAre("finished 9 CANCELLED"));
  EXPECT_THAT(Text(cancelled.actions), ElementsAre("on 1: finished 9 CANCELLED"));
  EXPECT_THAT(Actions(Done(7)), ElementsAre("remove 7"));
}

TEST_F(AgentCoreTest, CancelKillsAndTheResultStillTravels) {
  Connect();
  Do(Assign(7, 1));
  EXPECT_THAT(Actions(CancelOf(99)), IsEmpty());
  EXPECT_THAT(Actions(CancelOf(7)), ElementsAre("kill 7: stop"));
  EXPECT_THAT(Actions(Done(7, v1::VERDICT_CANCELLED)), ElementsAre("on 1: finished 7 CANCELLED"));
  EXPECT_THAT(Actions(CancelOf(7)), IsEmpty());
}

TEST_F(AgentCoreTest, ResultOutlivesTheConnection) {
  Connect();
  Do(Assign(7, 1));
  Do(AttemptBegan{7});
  Do(Assign(8, 1, "qemu"));
  Do(LinkDown{1});
  EXPECT_THAT(Actions(Done(8)), IsEmpty());
  EXPECT_THAT(Actions(Up(2)), ElementsAre("on 2: hello epoch 1 7=RUNNING 8=FINISHED"));
  EXPECT_THAT(Actions(Welcome(2, {{7, true}, {8, true}})), ElementsAre("on 2: started 7", "on 2: finished 8 PASS"));
}

TEST_F(AgentCoreTest, OldLinkIsNotHeard) {
  Connect();
  Do(Assign(7, 1));
  Do(Up(2));
  EXPECT_THAT(Actions(Welcome(1)), IsEmpty());
  EXPECT_THAT(Actions(CancelOf(7)), IsEmpty());
  Do(LinkDown{1});
  EXPECT_EQ(state_.link, 2u);
}

TEST_F(AgentCoreTest, SecondWelcomeOnALinkIsIgnored) {
  Connect();
  Do(Assign(7, 1));
  EXPECT_THAT(Actions(Welcome(1)), IsEmpty());
}

TEST_F(AgentCoreTest, WelcomeEndsWhatTheControllerGaveUp) {
  Connect();
  Do(Assign(7, 1));
  Do(Assign(8, 1, "qemu"));
  Do(Done(8));
  Do(LinkDown{1});
  Do(Up(2));
  const Effects effects = Do(Welcome(2, {{8, false}}));
  EXPECT_THAT(Text(effects.journal), ElementsAre("forgotten 8"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("remove 8", "kill 7: the controller has given it up"));
  // While it is being killed nothing is said of it.
  EXPECT_THAT(Wait(Seconds(0)), ElementsAre("on 2: heartbeat 1: "));
  EXPECT_THAT(Journal(Done(7)), ElementsAre("forgotten 7"));
}

TEST_F(AgentCoreTest, LateResultOfAGivenUpAttemptIsStillOffered) {
  Connect();
  Do(Assign(7, 1));
  Do(LinkDown{1});
  Do(Done(7));
  Do(Up(2));
  EXPECT_THAT(Actions(Welcome(2)), ElementsAre("on 2: finished 7 PASS"));
}

TEST_F(AgentCoreTest, RestartInterruptsWhatHadNoResult) {
  Connect();
  Do(Assign(7, 1));
  Do(Assign(8, 1, "qemu"));
  Do(Done(8));
  EXPECT_THAT(Restart(), IsEmpty());
  EXPECT_THAT(Actions(Up(1)), ElementsAre("on 1: hello epoch 2 7=INTERRUPTED 8=FINISHED"));
  const Effects effects = Do(Welcome(1, {{7, false}, {8, true}}));
  EXPECT_THAT(Text(effects.journal), ElementsAre("forgotten 7"));
  EXPECT_THAT(Text(effects.actions), ElementsAre("remove 7", "on 1: finished 8 PASS"));
  // Tokens are remembered; the next try has a higher one.
  EXPECT_THAT(Actions(Assign(7, 1)), ElementsAre("on 1: refused 7 stale_token"));
  EXPECT_THAT(Actions(Assign(9, 2)), ElementsAre("start 9 of s"));
}

TEST_F(AgentCoreTest, FolderOfAForgottenAttemptIsRemovedAfterACrash) {
  Connect();
  Do(Assign(7, 1));
  Do(Done(7));
  Do(Ack(1, 7));
  EXPECT_THAT(Restart(), ElementsAre("remove 7"));
}

TEST_F(AgentCoreTest, CompactedJournalGivesTheSameState) {
  Connect();
  Do(Assign(6, 1));
  Do(Done(6));
  Do(Ack(1, 6));
  Do(Assign(7, 2));
  Do(Assign(8, 1, "qemu"));
  Do(Done(8, v1::VERDICT_FAIL));
  const std::vector<JournalEntry> compact = CompactJournal(state_);
  EXPECT_THAT(Text(compact), ElementsAre("token resource/dev 2", "token resource/qemu 1", "accepted 7", "accepted 8",
                                         "finished 8 FAIL"));
  EXPECT_THAT(Load(compact, 2), IsEmpty());
  EXPECT_EQ(state_.tokens.at("resource/dev"), 2u);
  EXPECT_THAT(Actions(Up(1)), ElementsAre("on 1: hello epoch 2 7=INTERRUPTED 8=FINISHED"));
}

TEST_F(AgentCoreTest, MissingArtifactsAreUploadedAndTheResultSentAgain) {
  Connect();
  Do(Assign(7, 1));
  EXPECT_THAT(Actions(Ack(1, 7)), IsEmpty());  // it has not finished
  Do(Done(7));
  EXPECT_THAT(Actions(Ack(1, 7, {"d1", "d2"})), ElementsAre("upload 7 d1 d2"));
  EXPECT_THAT(Actions(ArtifactsUploaded{7, {}}), ElementsAre("on 1: finished 7 PASS"));
  EXPECT_THAT(Actions(ArtifactsUploaded{99, {}}), IsEmpty());
}

TEST_F(AgentCoreTest, ResultWhoseFilesAreGoneIsInfra) {
  Connect();
  Do(Assign(7, 1));
  AttemptDone done = Done(7);
  done.evidence.add_artifacts()->set_sha256("d1");
  done.evidence.add_artifacts()->set_sha256("d2");
  Do(done);
  const Effects effects = Do(ArtifactsUploaded{7, {"d1"}});
  EXPECT_THAT(Text(effects.journal), ElementsAre("finished 7 INFRA"));
  const v1::AttemptFinished& finished = std::get<Send>(effects.actions.at(0)).message.finished();
  EXPECT_EQ(finished.evidence().outcome().kind(), "artifact");
  ASSERT_EQ(finished.evidence().artifacts_size(), 1);
  EXPECT_EQ(finished.evidence().artifacts(0).sha256(), "d2");
}

TEST_F(AgentCoreTest, HeartbeatsNameWhatIsNotAcknowledged) {
  Connect();
  Do(Assign(7, 1));
  Do(Assign(8, 1, "qemu"));
  Do(Done(8));
  EXPECT_THAT(Wait(Seconds(0)), ElementsAre("on 1: heartbeat 1: 7 8"));
  EXPECT_THAT(Wait(Milliseconds(1999)), IsEmpty());
  EXPECT_THAT(Wait(Milliseconds(1)), ElementsAre("on 1: heartbeat 2: 7 8"));
}

TEST_F(AgentCoreTest, SilentControllerIsDropped) {
  Connect();
  now_.mono = now_.mono + Seconds(29);
  ControllerSaid ack{1, {}};
  ack.message.mutable_heartbeat_ack()->set_sequence(1);
  Do(ack);
  Wait(Seconds(29));
  EXPECT_EQ(state_.link, 1u);
  EXPECT_THAT(Wait(Seconds(1)), ElementsAre("drop 1: the controller was silent for 30 s"));
  EXPECT_EQ(state_.link, 0u);
  EXPECT_THAT(Wait(Seconds(60)), IsEmpty());
}

TEST_F(AgentCoreTest, ProgressIsNotSaidMoreOftenThanNeeded) {
  Connect();
  Do(Assign(7, 1));
  Wait(Seconds(0));
  const auto progress = [](uint32_t done) {
    AttemptProgressed event{7, {}};
    event.progress.set_cases_done(done);
    return event;
  };
  EXPECT_THAT(Actions(progress(1)), ElementsAre("on 1: progress 1"));
  EXPECT_THAT(Actions(progress(2)), IsEmpty());
  EXPECT_THAT(Actions(progress(3)), IsEmpty());
  EXPECT_THAT(Wait(Milliseconds(500)), ElementsAre("on 1: progress 3"));
  EXPECT_THAT(Wait(Milliseconds(500)), IsEmpty());
}

}  // namespace
}  // namespace pyptox::agent
