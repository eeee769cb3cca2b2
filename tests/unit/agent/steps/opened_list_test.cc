#include "agent/steps/opened_list.h"

#include <gtest/gtest.h>

namespace pyptox::agent {
namespace {

OpenedInput Input(const std::string& path, const std::string& sha256 = "aa", bool executed = false) {
  OpenedInput input;
  input.path = path;
  input.sha256 = sha256;
  input.size = 5;
  input.executed = executed;
  return input;
}

// `PATH` or `PATH!` for one outside, blank-separated.
std::string Paths(const v1::StepResult& step) {
  std::string text;
  for (const v1::OpenedFile& file : step.opened()) {
    text += (text.empty() ? "" : " ") + file.path() + (file.outside() ? "!" : "");
  }
  return text;
}

TEST(OpenedListTest, EachFileOnceAtItsFirstStep) {
  OpenedList list("/jobs/attempts/7");
  v1::StepResult first, second;
  list.AppendNew({Input("/usr/bin/cc", "aa", true), Input("/jobs/attempts/7/src/a.c")}, &first);
  list.AppendNew({Input("/usr/bin/cc", "aa", true), Input("/usr/bin/cc"), Input("/jobs/attempts/7/src/a.c", "bb")},
                 &second);
  EXPECT_EQ(Paths(first), "/usr/bin/cc src/a.c");
  EXPECT_TRUE(first.opened(0).executed());
  EXPECT_EQ(first.opened(1).size(), 5u);
  EXPECT_EQ(Paths(second), "/usr/bin/cc src/a.c") << "read, not executed; and other contents";
}

TEST(OpenedListTest, KnowsWhatWasOpened) {
  OpenedList list("/jobs/attempts/7");
  v1::StepResult step;
  list.AppendNew({Input("/jobs/attempts/7/src/golden/g.bin"), Input("/usr/x")}, &step);
  EXPECT_TRUE(list.HasOpened("src/golden/g.bin"));
  EXPECT_FALSE(list.HasOpened("src/golden/g"));
  EXPECT_FALSE(list.HasOpened("src/golden/g.bin2"));
  EXPECT_FALSE(list.HasOpened("x"));
}

TEST(OpenedListTest, WhatIsOutside) {
  OpenedList list("/jobs/attempts/7");
  list.AddToolFolder("/apps/pyptox/bin");
  list.AddToolOf("/apps/tools/gcc-13/bin/gcc");
  list.AddToolOf("/srv/cc/cc1");
  list.AddToolOf("/jobs/attempts/7/build/tool");
  list.AddToolOf("/bin/sh");  // must not make `/` a tool's folder
  v1::StepResult step;
  for (const char* path :
       {"/jobs/attempts/7/build/x", "/jobs/attempts/70/src/x", "/jobs/attempts/6/src/x", "/usr/lib/libc.so.6",
        "/etc/ld.so.cache", "/apps/pyptox/bin/pyptox-runner", "/apps/pyptox/lib/x", "/apps/tools/gcc-13/lib/cc1",
        "/apps/tools/gcc-12/lib/cc1", "/srv/cc/specs", "/srv/other", "/tmp/x", "/libx", "relative"}) {
    list.AppendNew({Input(path)}, &step);
  }
  EXPECT_EQ(Paths(step),
            "build/x /jobs/attempts/70/src/x! /jobs/attempts/6/src/x! /usr/lib/libc.so.6 /etc/ld.so.cache "
            "/apps/pyptox/bin/pyptox-runner /apps/pyptox/lib/x! /apps/tools/gcc-13/lib/cc1 "
            "/apps/tools/gcc-12/lib/cc1! /srv/cc/specs /srv/other! /tmp/x! /libx! relative!");
}

}  // namespace
}  // namespace pyptox::agent
