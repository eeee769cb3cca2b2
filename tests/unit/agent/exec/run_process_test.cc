#include "agent/exec/run_process.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/agent/exec/exec_fixture.h"

namespace pyptox::agent {
namespace {

using End = ProcessOutcome::End;

class RunProcessTest : public ExecFixture {};

// What must hold whichever way the tree is held.
class EveryMode : public ExecFixture, public ::testing::WithParamInterface<TreeMode> {
 protected:
  ProcessSpec Sh(const std::string& script) const { return Shell(script, GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Modes, EveryMode, ::testing::Values(TreeMode::kTraced, TreeMode::kSubreaper),
                         [](const auto& info) { return info.param == TreeMode::kTraced ? "Traced" : "Subreaper"; });

TEST_P(EveryMode, OutputAndErrorComeMergedAndStatusIsKept) {
  const auto outcome = Run(Sh("echo one; echo two >&2; echo three; exit 7"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "one\ntwo\nthree\n");
  EXPECT_EQ(outcome->end, End::kExited);
  EXPECT_EQ(outcome->exit_status, 7);
  EXPECT_EQ(outcome->signal, 0);
  EXPECT_EQ(outcome->output_bytes, output_.size());
  EXPECT_EQ(outcome->leftover, 0u);
  EXPECT_TRUE(outcome->tree_empty);
  EXPECT_GT(outcome->max_rss_kib, 100u);
  EXPECT_EQ(outcome->observed, GetParam() == TreeMode::kTraced);
}

TEST_P(EveryMode, DeathBySignalIsNotAnExit) {
  const auto outcome = Run(Sh("kill -SEGV $$"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kSignaled);
  EXPECT_EQ(outcome->exit_status, -1);
  EXPECT_EQ(outcome->signal, SIGSEGV);
}

TEST_P(EveryMode, ArgumentsAndEnvironmentArriveUnchanged) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte) every_byte.push_back(static_cast<char>(byte));
  const std::vector<std::string> hostile = {"",   " ",    "a b",          "'\"`$(id)", "%PATH%^!&|<>",           "-n",
                                            "\\", "\n\n", "\xe4\xb8\xad", every_byte,  std::string(100'000, 'x')};
  ProcessSpec spec = Sh("");
  spec.program = "/usr/bin/printf";
  spec.argv = {"printf", "%s\\037"};
  std::string expected;
  for (const std::string& text : hostile) {
    spec.argv.push_back(text);
    expected += text + "\037";
  }
  auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, expected);

  spec.program = "/usr/bin/env";
  spec.argv = {"env", "-0"};
  spec.env = {"A=", "B=x y", "C=" + every_byte, "PATH=/nowhere"};
  outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, std::string("A=\0B=x y\0C=", 11) + every_byte + std::string("\0PATH=/nowhere\0", 15));
}

TEST_P(EveryMode, StandardInputIsEmptyAndNothingElseIsOpen) {
  const UniqueFd leak(open("/dev/null", O_RDONLY));  // without O_CLOEXEC
  ASSERT_TRUE(leak.valid());
  const auto outcome = Run(Sh("cat; pwd -P; umask; ulimit -c; ls /proc/self/fd | wc -l"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  // 0, 1, 2 and the folder that ls reads.
  EXPECT_EQ(output_, folder_ + "\n0022\n0\n4\n");
}

TEST_P(EveryMode, SignalsAreNeitherBlockedNorIgnored) {
  signal(SIGUSR1, SIG_IGN);
  const auto outcome = Run(Sh("grep -E 'Sig(Blk|Ign):' /proc/self/status"));
  signal(SIGUSR1, SIG_DFL);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_P(EveryMode, AProgramThatCannotBeExecutedIsAnError) {
  ProcessSpec spec = Sh("");
  spec.program = folder_ + "/absent";
  EXPECT_EQ(Run(spec).status().code(), absl::StatusCode::kNotFound);
  Write("not-a-program", "plain text");
  spec.program = folder_ + "/not-a-program";
  EXPECT_EQ(Run(spec).status().code(), absl::StatusCode::kPermissionDenied);
  spec = Sh("true");
  spec.cwd = folder_ + "/absent";
  EXPECT_EQ(Run(spec).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(EveryMode, RunLimitEndsTheProgramWithTermFirst) {
  ProcessSpec spec =
      Sh("exec perl -e '$| = 1; $SIG{TERM} = sub { print qq(caught\n); exit 3 }; print qq(ready\n); sleep 1 while 1'");
  spec.run_limit = Milliseconds(2000);
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kRunLimit);
  EXPECT_EQ(output_, "ready\ncaught\n");
  EXPECT_EQ(outcome->exit_status, 3);
  EXPECT_EQ(outcome->leftover, 0u);
  EXPECT_TRUE(outcome->tree_empty);
}

TEST_P(EveryMode, SilenceLimitCountsFromTheLastByte) {
  ProcessSpec spec = Sh("for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exec sleep 1000");
  spec.silence_limit = Milliseconds(400);
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kSilenceLimit);
  EXPECT_EQ(output_, "1\n2\n3\n4\n5\n6\n");
}

TEST_P(EveryMode, WhoIgnoresTermIsKilledAfterTheGrace) {
  ProcessSpec spec = Sh("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  spec.run_limit = Milliseconds(1000);
  spec.kill_grace = Milliseconds(200);
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kRunLimit);
  EXPECT_EQ(outcome->signal, SIGKILL);
  EXPECT_TRUE(outcome->tree_empty);
}

TEST_P(EveryMode, CancelFromAnotherThread) {
  StopSignal stop;
  bool asked = false;
  const auto outcome = RunProcess(Sh("echo ready; exec sleep 1000"), &digests_, &stop, [&](std::string_view) {
    if (!asked) std::thread([&] { stop.Request(); }).join();
    asked = true;
  });
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kCancelled);
  EXPECT_EQ(outcome->signal, SIGTERM);
}

TEST_P(EveryMode, CancelBeforeTheStartEndsItAtOnce) {
  StopSignal stop;
  stop.Request();
  const auto outcome = Run(Sh("exec sleep 1000"), &stop);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kCancelled);
  EXPECT_TRUE(outcome->tree_empty);
}

TEST_P(EveryMode, AStoppedProgramCanBeEnded) {
  ProcessSpec spec = Sh("kill -STOP $$; echo woken; exec sleep 1000");
  spec.run_limit = Milliseconds(300);
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kRunLimit);
  EXPECT_TRUE(outcome->tree_empty);
}

TEST_P(EveryMode, AGigabyteWithoutANewlineTakesNoMemory) {
  uint64_t bytes = 0;
  size_t largest = 0;
  const auto outcome = RunProcess(Sh("head -c 1073741824 /dev/zero"), &digests_, nullptr, [&](std::string_view piece) {
    bytes += piece.size();
    largest = std::max(largest, piece.size());
  });
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(bytes, 1u << 30);
  EXPECT_EQ(outcome->output_bytes, 1u << 30);
  EXPECT_LE(largest, 64u << 10);
}

TEST_P(EveryMode, AFloodOfOutputDoesNotHideTheLimit) {
  ProcessSpec spec = Sh("exec cat /dev/zero");
  spec.run_limit = Milliseconds(2000);
  uint64_t bytes = 0;
  const auto outcome = RunProcess(spec, &digests_, nullptr, [&](std::string_view piece) { bytes += piece.size(); });
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kRunLimit);
  EXPECT_GT(bytes, 0u);
}

TEST_F(RunProcessTest, ManyAtOnceDoNotMix) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) {
        const TreeMode mode = i % 2 == 0 ? TreeMode::kTraced : TreeMode::kSubreaper;
        const auto outcome = RunProcess(Shell("(echo " + std::to_string(i) + ") | cat", mode), &digests_, nullptr,
                                        [&](std::string_view piece) { outputs[i] += piece; });
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        EXPECT_EQ(outcome->exit_status, 0);
        EXPECT_TRUE(outcome->tree_empty);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 8; ++i) {
    std::string expected;
    for (int round = 0; round < 5; ++round) expected += std::to_string(i) + "\n";
    EXPECT_EQ(outputs[i], expected);
  }
}

TEST_F(RunProcessTest, ThisHostCanTrace) { EXPECT_EQ(ProbeTreeMode(), TreeMode::kTraced); }

}  // namespace
}  // namespace pyptox::agent
