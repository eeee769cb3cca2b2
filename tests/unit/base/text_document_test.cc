#include "base/text_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyptox {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(TextDocument, KeepsLinesQuotesOrderAndDuplicates) {
  std::vector<TextFault> faults;
  TextNode root;
  ASSERT_TRUE(ParseTextDocument("# top\nb: no\na: 'x'\nb:\n  - ~\n  - |\n    block\n", "f", &root, &faults));
  EXPECT_THAT(faults, IsEmpty());
  ASSERT_EQ(root.kind, TextNode::Kind::kMap);
  ASSERT_THAT(root.members, SizeIs(3));
  EXPECT_EQ(root.members[0].first.scalar, "b");
  EXPECT_EQ(root.members[0].first.line, 2);
  EXPECT_EQ(root.members[0].second.scalar, "no");
  EXPECT_FALSE(root.members[0].second.quoted);
  EXPECT_TRUE(root.members[1].second.quoted);
  const TextNode& list = root.members[2].second;
  ASSERT_THAT(list.items, SizeIs(2));
  EXPECT_EQ(list.items[0].kind, TextNode::Kind::kNull);
  EXPECT_EQ(list.items[1].scalar, "block\n");
  EXPECT_TRUE(list.items[1].quoted);
}

}  // namespace
}  // namespace pyptox
