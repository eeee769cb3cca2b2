#include "agent/watch/process_view.h"

#include <gtest/gtest.h>

#include "tests/unit/agent/watch/fake_proc.h"

namespace pyptox::agent {
namespace {

TEST(ProcessView, WholeOnABareHostOnly) {
  const FakeProc proc;
  EXPECT_EQ(FindProcessView(proc.path()), v1::PROCESS_VIEW_HIDDEN);
  proc.MakeBareHost();
  EXPECT_EQ(FindProcessView(proc.path()), v1::PROCESS_VIEW_WHOLE);
  proc.MakeBareHost("6.6.87.2-microsoft-standard-WSL2");
  EXPECT_EQ(FindProcessView(proc.path()), v1::PROCESS_VIEW_HIDDEN);
  proc.MakeBareHost("4.4.0-19041-Microsoft");
  EXPECT_EQ(FindProcessView(proc.path()), v1::PROCESS_VIEW_HIDDEN);
  proc.MakeBareHost("6.1.0-18-amd64", "pid:[4026532201]");
  EXPECT_EQ(FindProcessView(proc.path()), v1::PROCESS_VIEW_HIDDEN);
}

}  // namespace
}  // namespace pyptox::agent
