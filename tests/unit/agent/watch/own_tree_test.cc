#include "agent/watch/own_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/agent/watch/fake_proc.h"

namespace pyptox::agent {
namespace {

using Pids = std::set<uint64_t>;

// 10 is ours, 11 and 12 are its descendants, 20 is another root, 30 is somebody's.
void Fill(const FakeProc& proc, bool lists_children) {
  const auto add = [&](FakeProcess process, const std::string& children) {
    proc.Add(process, lists_children ? &children : nullptr);
  };
  add({.pid = 10, .own_ticks = 100, .child_ticks = 5, .state = 'R'}, "11 ");
  add({.pid = 11, .parent = 10, .own_ticks = 20}, "12 ");
  add({.pid = 12, .parent = 11, .own_ticks = 3, .child_ticks = 4, .state = 'R'}, "");
  add({.pid = 20, .own_ticks = 1000}, "");
  add({.pid = 30, .own_ticks = 9999, .state = 'R'}, "");
}

TEST(OwnTree, DescendantsOfTheRoots) {
  for (const bool lists_children : {true, false}) {
    const FakeProc proc;
    Fill(proc, lists_children);
    const auto tree = ReadOwnTree(proc.path(), {10});
    ASSERT_TRUE(tree.ok()) << tree.status();
    EXPECT_EQ(tree->pids, (Pids{10, 11, 12}));
    EXPECT_EQ(tree->ticks, 132u);
    EXPECT_EQ(tree->runnable, 2u);
    const auto both = ReadOwnTree(proc.path(), {10, 20, 21});
    ASSERT_TRUE(both.ok()) << both.status();
    EXPECT_EQ(both->pids, (Pids{10, 11, 12, 20}));
    EXPECT_EQ(both->ticks, 1132u);
    EXPECT_EQ(*ReadOwnPids(proc.path(), {10, 20}), (Pids{10, 11, 12, 20}));
  }
}

TEST(OwnTree, ARootWithinAnotherIsCountedOnce) {
  const FakeProc proc;
  Fill(proc, true);
  EXPECT_EQ(ReadOwnTree(proc.path(), {10, 12})->ticks, 132u);
}

TEST(OwnTree, WithoutItsRootNothingIsKnown) {
  const FakeProc proc;
  Fill(proc, true);
  EXPECT_TRUE(absl::IsNotFound(ReadOwnTree(proc.path(), {77, 10}).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadOwnPids(proc.path(), {77, 10}).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadOwnTree(proc.path(), {}).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadOwnPids("/nonexistent", {10}).status()));
}

// Looks whose processes are these letters; the tree's ticks are the number of the look, from 1.
absl::StatusOr<OwnTree> Agreed(const std::string& looks, int* taken) {
  *taken = 0;
  return AgreedTree([&]() -> absl::StatusOr<TreeLook> {
    const char name = looks[*taken % looks.size()];
    TreeLook look;
    look.processes.emplace(7, static_cast<uint64_t>(name));
    look.tree.ticks = static_cast<uint64_t>(++*taken);
    return look;
  });
}

TEST(OwnTree, ThreeLooksInARowMustAgree) {
  int taken = 0;
  EXPECT_EQ(Agreed("a", &taken)->ticks, 2u);
  EXPECT_EQ(taken, 3);
  // The same pid twice, then another process by that pid: only the last three are one.
  EXPECT_EQ(Agreed("aabbab"
                   "ccc",
                   &taken)
                ->ticks,
            8u);
  EXPECT_EQ(taken, 9);
  EXPECT_TRUE(absl::IsUnavailable(Agreed("aab", &taken).status()));
  EXPECT_EQ(taken, 12);
}

TEST(OwnTree, ThisProcessAndItsRealChild) {
  const auto self = static_cast<uint64_t>(getpid());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    while (true) pause();
  }
  const auto pids = ReadOwnPids("/proc", {self});
  ASSERT_TRUE(pids.ok()) << pids.status();
  EXPECT_TRUE(pids->contains(self));
  EXPECT_TRUE(pids->contains(static_cast<uint64_t>(child)));
  EXPECT_FALSE(pids->contains(1));
  const auto tree = ReadOwnTree("/proc", {self});
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(tree->pids, *pids);
  EXPECT_GE(tree->runnable, 1u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(ReadOwnPids("/proc", {self})->contains(static_cast<uint64_t>(child)));
}

}  // namespace
}  // namespace pyptox::agent
