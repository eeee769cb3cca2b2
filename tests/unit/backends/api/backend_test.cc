#include "backends/api/backend.h"

#include <gtest/gtest.h>

namespace pyptox::backends {
namespace {

TEST(Backend, AFactThatWasNotObservedIsEmpty) {
  const FactMap facts = {{"a", "1"}, {"b", "unknown"}, {"c", "absent"}, {"d", ""}};
  EXPECT_EQ(FactOr(facts, "a"), "1");
  for (const char* key : {"b", "c", "d", "e"}) EXPECT_EQ(FactOr(facts, key), "") << key;
}

TEST(Backend, OutcomeHasWhatItIsGiven) {
  const v1::Outcome outcome = MakeOutcome(v1::VERDICT_BLOCKED_DEVICE, "machine", "a sentence");
  EXPECT_EQ(outcome.verdict(), v1::VERDICT_BLOCKED_DEVICE);
  EXPECT_EQ(outcome.kind(), "machine");
  EXPECT_EQ(outcome.reason(), "a sentence");
}

}  // namespace
}  // namespace pyptox::backends
