#include "agent/link/journal.h"

#include <sys/stat.h>
#include <unistd.h>

#include <variant>

#include "tests/unit/agent/link/scratch_folder.h"

namespace pyptox::agent {
namespace {

std::vector<JournalEntry> SomeEntries() {
  Accepted accepted;
  accepted.assign.set_attempt_id(7);
  accepted.assign.set_resource("dev");
  accepted.assign.add_locks()->set_token(5);
  Finished finished;
  finished.finished.set_attempt_id(7);
  finished.finished.mutable_evidence()->mutable_outcome()->set_verdict(v1::VERDICT_PASS);
  TokenSeen token;
  token.token.set_key("resource/dev");
  token.token.set_token(6);
  return {accepted, finished, Forgotten{7}, token};
}

std::string Text(const std::vector<JournalEntry>& entries) {
  std::string text;
  for (const JournalEntry& entry : entries) {
    if (const auto* accepted = std::get_if<Accepted>(&entry)) text += "A" + accepted->assign.SerializeAsString();
    if (const auto* finished = std::get_if<Finished>(&entry)) text += "F" + finished->finished.SerializeAsString();
    if (const auto* forgotten = std::get_if<Forgotten>(&entry)) text += "X" + std::to_string(forgotten->attempt_id);
    if (const auto* token = std::get_if<TokenSeen>(&entry)) text += "T" + token->token.SerializeAsString();
  }
  return text;
}

class JournalTest : public ::testing::Test {
 protected:
  std::unique_ptr<Journal> Open() {
    auto journal = Journal::Open(folder_ / "journal");
    EXPECT_TRUE(journal.ok()) << journal.status();
    return *std::move(journal);
  }
  ScratchFolder folder_;
};

TEST_F(JournalTest, RemembersAllAndCountsItsStarts) {
  std::string id;
  {
    auto journal = Open();
    id = journal->id();
    EXPECT_EQ(id.size(), 32u);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(journal->epoch(), 1u);
    EXPECT_TRUE(journal->TakeEntries().empty());
    ASSERT_TRUE(journal->Append(SomeEntries()).ok());
    ASSERT_TRUE(journal->Append({}).ok());
    ASSERT_TRUE(journal->Append({Forgotten{9}}).ok());
  }
  for (uint64_t epoch = 2; epoch < 5; ++epoch) {
    auto journal = Open();
    EXPECT_EQ(journal->id(), id);
    EXPECT_EQ(journal->epoch(), epoch);
    EXPECT_EQ(Text(journal->TakeEntries()), Text(SomeEntries()) + "X9");
    struct stat info {};
    ASSERT_EQ(stat((folder_ / "journal").c_str(), &info), 0);
    EXPECT_EQ(static_cast<uint64_t>(info.st_size), journal->size());
    EXPECT_EQ(info.st_mode & 0777, 0600u);
  }
}

TEST_F(JournalTest, RewriteKeepsIdAndEpoch) {
  auto journal = Open();
  ASSERT_TRUE(journal->Append(SomeEntries()).ok());
  const uint64_t before = journal->size();
  ASSERT_TRUE(journal->Rewrite({Forgotten{3}}).ok());
  EXPECT_LT(journal->size(), before);
  ASSERT_TRUE(journal->Append({Forgotten{4}}).ok());
  const std::string id = journal->id();
  journal = Open();
  EXPECT_EQ(journal->id(), id);
  EXPECT_EQ(journal->epoch(), 2u);
  EXPECT_EQ(Text(journal->TakeEntries()), "X3X4");
}

// Wherever a crash cuts the last append, it is gone as a whole and all before it is there.
TEST_F(JournalTest, ATornTailIsCut) {
  auto journal = Open();
  ASSERT_TRUE(journal->Append({Forgotten{1}}).ok());
  const uint64_t good = journal->size();
  ASSERT_TRUE(journal->Append(SomeEntries()).ok());
  const std::string id = journal->id();
  const std::string whole = folder_.Read("journal");
  for (size_t cut = good; cut < whole.size(); ++cut) {
    folder_.Write("journal", whole.substr(0, cut));
    journal = Open();
    EXPECT_EQ(journal->id(), id) << cut;
    EXPECT_EQ(Text(journal->TakeEntries()), "X1") << cut;
    // What is appended now is read again.
    ASSERT_TRUE(journal->Append({Forgotten{2}}).ok());
    EXPECT_EQ(Text(Open()->TakeEntries()), "X1X2") << cut;
  }
  // The same with a tail of zeros, and with every byte of the last frame changed.
  folder_.Write("journal", whole + std::string(4096, '\0'));
  EXPECT_EQ(Text(Open()->TakeEntries()), "X1" + Text(SomeEntries()));
  for (size_t at = good + 4; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    folder_.Write("journal", changed);
    EXPECT_EQ(Text(Open()->TakeEntries()), "X1") << at;
  }
}

TEST_F(JournalTest, DamageBeforeTheTailMakesANewJournal) {
  auto journal = Open();
  const uint64_t start = journal->size();
  ASSERT_TRUE(journal->Append(SomeEntries()).ok());
  ASSERT_TRUE(journal->Append(SomeEntries()).ok());
  std::string text = folder_.Read("journal");
  text[start + 20] = static_cast<char>(text[start + 20] ^ 1);
  folder_.Write("journal", text);
  const std::string id = journal->id();
  journal = Open();
  EXPECT_NE(journal->id(), id);
  EXPECT_EQ(journal->epoch(), 1u);
  EXPECT_TRUE(journal->TakeEntries().empty());
  EXPECT_EQ(folder_.Read("journal.damaged"), text);
}

TEST_F(JournalTest, AnythingElseIsSetAsideToo) {
  for (const std::string text : {"", "x", "not a journal at all, but a longer text of somebody"}) {
    folder_.Write("journal", text);
    EXPECT_EQ(Open()->epoch(), 1u);
    EXPECT_EQ(folder_.Read("journal.damaged"), text);
  }
}

TEST_F(JournalTest, LargeEntries) {
  auto journal = Open();
  Finished finished;
  finished.finished.mutable_evidence()->add_not_covered(std::string(4 << 20, 'x'));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(journal->Append({finished}).ok());
  EXPECT_EQ(Open()->TakeEntries().size(), 5u);
}

}  // namespace
}  // namespace pyptox::agent
