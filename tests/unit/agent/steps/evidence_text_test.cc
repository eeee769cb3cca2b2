#include "agent/steps/evidence_text.h"

#include <gtest/gtest.h>

#include "base/message_json.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {
namespace {

constexpr char kReplaced[] =
    "a\xef\xbf\xbd\xef\xbf\xbd"
    "b";

TEST(EvidenceTextTest, TextsOfEveryKindBecomeUtf8) {
  v1::Evidence evidence;
  evidence.mutable_outcome()->set_reason(
      "a\xff\xfe"
      "b");
  evidence.add_not_covered("\xc3\xa4 stays");
  evidence.add_not_covered(
      "a\xff\xfe"
      "b");
  evidence.add_steps()->add_opened()->set_path(
      "a\xff\xfe"
      "b");
  EXPECT_FALSE(MessageToCanonicalJson(evidence).ok());
  MakeTextsValid(&evidence);
  EXPECT_TRUE(MessageToCanonicalJson(evidence).ok());
  EXPECT_EQ(evidence.outcome().reason(), kReplaced);
  EXPECT_EQ(evidence.not_covered(0), "\xc3\xa4 stays");
  EXPECT_EQ(evidence.not_covered(1), kReplaced);
  EXPECT_EQ(evidence.steps(0).opened(0).path(), kReplaced);
}

}  // namespace
}  // namespace pyptox::agent
