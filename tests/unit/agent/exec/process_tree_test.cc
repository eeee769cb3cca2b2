// No process of a tree outlives it, whatever it did to get away.
#include <sys/wait.h>
#include <unistd.h>

#include "agent/exec/run_process.h"
#include "tests/unit/agent/exec/exec_fixture.h"

namespace pyptox::agent {
namespace {

using End = ProcessOutcome::End;

// sh -> perl -> 8 workers, some in sessions of their own, some deaf to TERM, and a double-forked daemon. All write
// their ids to `pids`; when all 10 did, `ready` is printed. The shell then ends, or goes on.
constexpr char kZoo[] = R"(
use POSIX; $SIG{TERM} = 'IGNORE' if $ARGV[0] eq 'deaf';
sub note { open(my $f, '>>', 'pids'); syswrite($f, "$$\n"); close($f); }
sub rest { note(); sleep 1 while 1; }
note();
for my $i (1 .. 8) { if (!fork) { POSIX::setsid() if $i % 2; $SIG{TERM} = 'IGNORE' if $i % 3 == 0; rest(); } }
my $d = fork;
if (!$d) { POSIX::setsid(); POSIX::_exit(0) if fork; chdir '/'; chdir $ENV{ZOO}; close STDIN; rest(); }
waitpid($d, 0);
while (1) { open(my $f, '<', 'pids'); my @l = <$f>; last if @l == 10; select(undef, undef, undef, 0.01); }
$| = 1; print "ready\n";
sleep 1 while $ARGV[1] eq 'stay';
)";

class ProcessTreeTest : public ExecFixture, public ::testing::WithParamInterface<TreeMode> {
 protected:
  ProcessSpec Zoo(const std::string& arguments) const {
    Write("zoo.pl", kZoo);
    ProcessSpec spec = Shell("perl zoo.pl " + arguments + "; echo end", GetParam());
    spec.env.push_back("ZOO=" + folder_);
    spec.kill_grace = Milliseconds(300);
    return spec;
  }
  void ExpectNoSurvivor() const {
    const std::vector<pid_t> pids = Pids("pids");
    EXPECT_EQ(pids.size(), 10u);
    for (const pid_t pid : pids) EXPECT_FALSE(IsAlive(pid)) << pid;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, ProcessTreeTest, ::testing::Values(TreeMode::kTraced, TreeMode::kSubreaper),
                         [](const auto& info) { return info.param == TreeMode::kTraced ? "Traced" : "Subreaper"; });

TEST_P(ProcessTreeTest, FinishKillsWhatIsLeftAndCountsIt) {
  const auto outcome = Run(Zoo("plain go"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "ready\nend\n");
  EXPECT_EQ(outcome->end, End::kExited);
  EXPECT_EQ(outcome->exit_status, 0);
  EXPECT_EQ(outcome->leftover, 9u);
  EXPECT_TRUE(outcome->tree_empty);
  ExpectNoSurvivor();
}

TEST_P(ProcessTreeTest, CancelLeavesNothing) {
  StopSignal stop;
  const auto outcome = RunProcess(Zoo("deaf stay"), &digests_, &stop, [&](std::string_view) { stop.Request(); });
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kCancelled);
  EXPECT_TRUE(outcome->tree_empty);
  ExpectNoSurvivor();
}

TEST_P(ProcessTreeTest, SilenceLeavesNothing) {
  ProcessSpec spec = Zoo("plain stay");
  spec.silence_limit = Seconds(2);
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kSilenceLimit);
  EXPECT_TRUE(outcome->tree_empty);
  ExpectNoSurvivor();
}

TEST_P(ProcessTreeTest, AForkBombEnds) {
  ProcessSpec spec = Shell(
      "exec perl -e 'for (1 .. 400) { if (!fork) { setpgrp; while (1) { if (!fork) { exit } } } } "
      "sleep 1000'",
      GetParam());
  spec.run_limit = Milliseconds(500);
  spec.kill_grace = Milliseconds(100);
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->end, End::kRunLimit);
  EXPECT_TRUE(outcome->tree_empty);
}

// kill -9 of the whole agent takes every process with it.
TEST_P(ProcessTreeTest, DeathOfTheAgentLeavesNothing) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const ProcessSpec spec = Zoo("deaf stay");
  const pid_t agent = fork();
  ASSERT_GE(agent, 0);
  if (agent == 0) {
    const auto outcome = RunProcess(spec, &digests_, nullptr, [&](std::string_view) {
      if (write(ready[1], "r", 1) != 1) _exit(1);
    });
    _exit(2);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  kill(agent, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(agent, &status, 0), agent);
  ASSERT_TRUE(WIFSIGNALED(status));
  // The kernel kills at once; being dead takes each a moment. A survivor would hang this until the test's limit.
  for (const pid_t pid : Pids("pids")) {
    while (IsAlive(pid)) usleep(1000);
  }
  ExpectNoSurvivor();
}

// A program that asks for a child which no tracer sees does not get one.
TEST_F(ExecFixture, UntracedChildrenAreRefused) {
  ProcessSpec spec = Shell("");
  spec.program = "/usr/bin/perl";
  // clone(CLONE_UNTRACED | SIGCHLD), clone3.
  spec.argv = {"perl", "-e",
               "my $r = syscall(56, 0x00800000 | 17, 0, 0, 0, 0); print \"$r \" . ($! + 0) . \"\\n\"; "
               "$r = syscall(435, 0, 0); print \"$r \" . ($! + 0) . \"\\n\";"};
#if !defined(__x86_64__)
  GTEST_SKIP() << "call numbers of x86-64";
#endif
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "-1 1\n-1 38\n");  // EPERM, ENOSYS
}

TEST_F(ExecFixture, ThreadsAndExecByAThreadAreFollowed) {
  Write("threads.c", R"(
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void* Spin(void* unused) { for (;;) pause(); return unused; }
static void* Exec(void* unused) {
  execl("/bin/sh", "sh", "-c", "cat input; exit 5", (char*)0);
  return unused;
}
int main(void) {
  pthread_t t;
  for (int i = 0; i < 20; ++i) pthread_create(&t, 0, Spin, 0);
  pthread_create(&t, 0, Exec, 0);
  for (;;) pause();
})");
  Write("input", "from a thread\n");
  ASSERT_EQ(Run(Shell("cc -pthread -o threads threads.c"))->exit_status, 0) << output_;
  const auto outcome = Run(Shell("./threads"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "from a thread\n");
  EXPECT_EQ(outcome->exit_status, 5);
  EXPECT_TRUE(outcome->tree_empty);
  EXPECT_TRUE(std::any_of(outcome->opened.begin(), outcome->opened.end(),
                          [&](const OpenedInput& input) { return input.path == folder_ + "/input"; }));
}

}  // namespace
}  // namespace pyptox::agent
