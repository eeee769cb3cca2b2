#include "ctl/commands/stop_signals.h"

#include <thread>

#include "gtest/gtest.h"

namespace pyptox::ctl {
namespace {

constexpr Duration kLong = Seconds(60);

void (*HandlerOf(int signal))(int) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

TEST(StopSignalsTest, ASignalEndsTheWaitOnce) {
  StopSignals signals;
  raise(SIGTERM);
  EXPECT_EQ(signals.Wait(kLong), SIGTERM);
  EXPECT_EQ(HandlerOf(SIGTERM), SIG_DFL) << "a second one ends the process";
  EXPECT_NE(HandlerOf(SIGINT), SIG_DFL) << "the other one is still caught";
  EXPECT_EQ(signals.Wait(Milliseconds(0)), 0);
}

TEST(StopSignalsTest, WakeEndsTheWait) {
  StopSignals signals;
  std::jthread other([&] { signals.Wake(); });
  EXPECT_EQ(signals.Wait(kLong), 0);
}

TEST(StopSignalsTest, WhatComesFirstIsKept) {
  StopSignals signals;
  signals.Wake();
  raise(SIGINT);
  EXPECT_EQ(signals.Wait(kLong), 0);
  EXPECT_EQ(signals.Wait(kLong), SIGINT);
}

TEST(StopSignalsTest, TheOldHandlersComeBack) {
  signal(SIGINT, SIG_IGN);
  {
    StopSignals signals;
    EXPECT_EQ(HandlerOf(SIGINT), SIG_IGN) << "a background job of a shell ignores it";
    EXPECT_NE(HandlerOf(SIGTERM), SIG_DFL);
  }
  EXPECT_EQ(HandlerOf(SIGINT), SIG_IGN);
  EXPECT_EQ(HandlerOf(SIGTERM), SIG_DFL);
  signal(SIGINT, SIG_DFL);
}

}  // namespace
}  // namespace pyptox::ctl
