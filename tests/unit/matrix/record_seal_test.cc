#include "matrix/record_seal.h"

#include <gtest/gtest.h>

#include <random>

#include "base/message_json.h"
#include "base/sha256.h"
#include "tests/unit/matrix/record_fixture.h"

namespace pyptox::matrix {
namespace {

using Extent = ChainVerifier::Extent;

std::vector<v1::StoredRecord> MakeChain(uint64_t count, Chain* chain) {
  std::vector<v1::StoredRecord> stored;
  for (uint64_t i = 1; i <= count; ++i) {
    v1::Record record = MakeRecord(i);
    stored.push_back(chain->Add(&record));
  }
  return stored;
}

// OK, or the first fault.
absl::Status Verify(const std::vector<v1::StoredRecord>& records, ChainVerifier verifier) {
  for (const v1::StoredRecord& record : records) {
    if (absl::Status status = verifier.Next(record).status(); !status.ok()) return status;
  }
  return verifier.Finish();
}

void Reseal(v1::Record* record, v1::StoredRecord* stored) {
  stored->set_json(MessageToCanonicalJson(*record).value());
  stored->set_sha256(Sha256Of(stored->json()).Hex());
}

TEST(SealRecord, FillsInWhatSealingKnows) {
  v1::Record record = MakeRecord(1);
  record.mutable_source()->set_dirty(true);
  *record.mutable_evidence()->add_cases() = MakeCase("skipped", v1::CASE_OUTCOME_SKIPPED, "no such unit");
  const v1::StoredRecord stored = SealRecord(1, kNoRecord, 3, &record);
  EXPECT_EQ(record.schema(), 1u);
  EXPECT_EQ(record.id(), 1u);
  EXPECT_EQ(record.previous_sha256(), std::string(64, '0'));
  EXPECT_EQ(record.counts().planned(), 3u);
  EXPECT_EQ(record.counts().passed(), 2u);
  EXPECT_EQ(record.counts().skipped(), 1u);
  EXPECT_EQ(record.not_admitted(), "dirty tree");
  EXPECT_EQ(stored.id(), 1u);
  EXPECT_EQ(stored.sha256(), Sha256Of(stored.json()).Hex());
  const absl::StatusOr<v1::Record> read = ReadRecord(stored.json(), "record-1.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->SerializeAsString(), record.SerializeAsString());
}

TEST(ReadRecord, RefusesWhatSealingDidNotWrite) {
  Chain chain;
  v1::Record record = MakeRecord(1);
  const std::string json = chain.Add(&record).json();
  const auto refused = [](const std::string& text) {
    const absl::StatusOr<v1::Record> read = ReadRecord(text, "file.json");
    return absl::IsInvalidArgument(read.status()) &&
           std::string(read.status().message()).find("file.json") != std::string::npos;
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = json;
    EXPECT_NE(text.find(from), std::string::npos) << from;
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_TRUE(refused(""));
  EXPECT_TRUE(refused("{}"));
  EXPECT_TRUE(refused(json + "\n"));
  EXPECT_TRUE(refused(" " + json));
  EXPECT_TRUE(refused(json.substr(0, json.size() - 1)));
  EXPECT_TRUE(refused(replaced(R"("id":"1")", R"("id":1)"))) << "another spelling of the same record";
  EXPECT_TRUE(refused(replaced(R"("schema":1)", R"("schema":2)")));
  EXPECT_TRUE(refused(replaced(R"("passed":2)", R"("passed":3)"))) << "counts that are not those of the cases";
  EXPECT_TRUE(refused(replaced(R"("agent":"local")", R"("agent":"local","colour":"red")")));
  EXPECT_TRUE(refused(replaced(R"("agent":"local")", R"("agent":"local","agent":"other")")));
  EXPECT_TRUE(refused(replaced(R"("agent":"local")", R"("agent":"local","partial":false)")));
  EXPECT_TRUE(refused(std::string(100'000, '[')));
}

TEST(ReadRecord, EveryCutOfARecordIsRefused) {
  Chain chain;
  v1::Record record = MakeRecord(1);
  const std::string json = chain.Add(&record).json();
  for (size_t length = 0; length < json.size(); ++length) {
    ASSERT_FALSE(ReadRecord(json.substr(0, length), "cut").ok()) << length;
  }
}

TEST(ChainVerifier, AcceptsAChainAndItsCheckpoints) {
  Chain chain;
  std::vector<v1::StoredRecord> records = MakeChain(5, &chain);
  EXPECT_TRUE(Verify({}, ChainVerifier()).ok());
  EXPECT_TRUE(Verify({}, ChainVerifier(Extent::kWhole, Checkpoint{})).ok());
  EXPECT_TRUE(Verify(records, ChainVerifier()).ok());
  EXPECT_TRUE(Verify(records, ChainVerifier(Extent::kWhole, chain.checkpoint())).ok());
  // An older checkpoint: the chain has grown since.
  EXPECT_TRUE(Verify(records, ChainVerifier(Extent::kWhole, Checkpoint{3, records[2].sha256()})).ok());
  ChainVerifier verifier;
  EXPECT_EQ(verifier.Next(records[0])->job_id(), 1u);
  EXPECT_EQ(verifier.count(), 1u);
  EXPECT_EQ(verifier.head(), records[0].sha256());
}

TEST(ChainVerifier, SeesEveryByteThatWasChanged) {
  Chain chain;
  const std::vector<v1::StoredRecord> records = MakeChain(4, &chain);
  std::mt19937 random(20261201);
  for (int i = 0; i < 2000; ++i) {
    std::vector<v1::StoredRecord> edited = records;
    v1::StoredRecord& record = edited[random() % edited.size()];
    std::string& text = random() % 8 == 0 ? *record.mutable_sha256() : *record.mutable_json();
    const size_t at = random() % text.size();
    text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    ASSERT_EQ(Verify(edited, ChainVerifier()).code(), absl::StatusCode::kDataLoss) << "record " << record.id();
  }
}

TEST(ChainVerifier, SeesAnEditThatWasSealedAgain) {
  Chain chain;
  std::vector<v1::StoredRecord> records = MakeChain(3, &chain);
  v1::Record record = ReadRecord(records[1].json(), "second").value();
  record.set_lane("x86-avx512@dev");
  Reseal(&record, &records[1]);
  EXPECT_EQ(Verify(records, ChainVerifier()).message(), "record 3: does not follow the record before it");
  // The newest record has none behind it: the checkpoint shows the edit.
  records.pop_back();
  EXPECT_TRUE(Verify(records, ChainVerifier()).ok());
  EXPECT_EQ(Verify(records, ChainVerifier(Extent::kWhole, Checkpoint{2, MakeChain(2, &chain)[1].sha256()})).message(),
            "record 2: is not the one of the checkpoint");
}

TEST(ChainVerifier, SeesRecordsThatAreMovedDoubledOrMissing) {
  Chain chain;
  const std::vector<v1::StoredRecord> records = MakeChain(6, &chain);
  for (size_t i = 0; i + 1 < records.size(); ++i) {
    std::vector<v1::StoredRecord> swapped = records;
    std::swap(swapped[i], swapped[i + 1]);
    EXPECT_FALSE(Verify(swapped, ChainVerifier()).ok()) << i;
    std::vector<v1::StoredRecord> doubled = records;
    doubled.insert(doubled.begin() + static_cast<std::ptrdiff_t>(i), records[i]);
    EXPECT_FALSE(Verify(doubled, ChainVerifier()).ok()) << i;
    std::vector<v1::StoredRecord> removed = records;
    removed.erase(removed.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_FALSE(Verify(removed, ChainVerifier()).ok()) << i;
    // Renumbered so that no gap shows.
    for (size_t j = i; j < removed.size(); ++j) {
      v1::Record record = ReadRecord(removed[j].json(), "moved").value();
      record.set_id(j + 1);
      removed[j].set_id(j + 1);
      Reseal(&record, &removed[j]);
    }
    EXPECT_FALSE(Verify(removed, ChainVerifier()).ok()) << i;
  }
}

TEST(ChainVerifier, SeesEverySuffixCutOfTenThousandRecords) {
  constexpr uint64_t kRecords = 10'000;
  Chain chain;
  const std::vector<v1::StoredRecord> records = MakeChain(kRecords, &chain);
  ChainVerifier verifier(Extent::kWhole, chain.checkpoint());
  for (uint64_t left = 0; left < kRecords; ++left) {
    // Here the verifier has seen a chain that was cut behind `left` records.
    ASSERT_EQ(verifier.Finish().code(), absl::StatusCode::kDataLoss) << left;
    const absl::StatusOr<v1::Record> next = verifier.Next(records[left]);
    ASSERT_TRUE(next.ok()) << next.status();
  }
  EXPECT_TRUE(verifier.Finish().ok());
}

TEST(ChainVerifier, ASelectionIsVerifiedAsFarAsItGoes) {
  Chain chain;
  const std::vector<v1::StoredRecord> records = MakeChain(6, &chain);
  const ChainVerifier selection(Extent::kSelection);
  EXPECT_TRUE(Verify({records[1], records[2], records[5]}, selection).ok());
  EXPECT_FALSE(Verify({records[2], records[1]}, selection).ok());
  EXPECT_FALSE(Verify({records[1], records[1]}, selection).ok());
  // Both ends of the link between 2 and 3 are there, and do not fit.
  std::vector<v1::StoredRecord> edited = {records[1], records[2], records[5]};
  v1::Record record = ReadRecord(edited[0].json(), "second").value();
  record.set_submitter("somebody else");
  Reseal(&record, &edited[0]);
  EXPECT_FALSE(Verify(edited, selection).ok());
  EXPECT_FALSE(Verify({records[2]}, ChainVerifier(Extent::kSelection, Checkpoint{3, std::string(64, 'e')})).ok());
  EXPECT_TRUE(Verify({records[2]}, ChainVerifier(Extent::kSelection, chain.checkpoint())).ok());
}

}  // namespace
}  // namespace pyptox::matrix
