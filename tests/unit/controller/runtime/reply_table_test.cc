#include "controller/runtime/reply_table.h"

#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

TEST(ReplyTable, AnswersEachCallOnce) {
  ReplyTable table;
  auto [a, first] = table.Open();
  auto [b, second] = table.Open();
  EXPECT_NE(a, b);
  table.Answer({b, absl::NotFoundError("b"), {}});
  table.Answer({b, absl::OkStatus(), {}});
  table.Answer({a, absl::OkStatus(), v1::Job()});
  EXPECT_EQ(second.get().status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(std::holds_alternative<v1::Job>(first.get().message));
}

TEST(ReplyTable, ClosingAnswersAllNowAndLater) {
  ReplyTable table;
  auto [a, before] = table.Open();
  table.Close(absl::UnavailableError("stop"));
  auto [b, after] = table.Open();
  EXPECT_EQ(before.get().status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(after.get().status.code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace pyptox::controller
