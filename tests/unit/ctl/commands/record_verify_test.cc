// `record verify` of exported files, without a controller.
#include <fmt/format.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/ctl/commands/program_fixture.h"
#include "tests/unit/matrix/record_fixture.h"

namespace pyptox::ctl {
namespace {

using ::testing::HasSubstr;

class RecordVerifyTest : public ProgramTest {
 protected:
  RecordVerifyTest() {
    for (uint64_t i = 1; i <= 4; ++i) {
      v1::Record record = matrix::MakeRecord(i);
      folder.Write(Name(i), chain_.Add(&record).json());
    }
  }
  static std::string Name(uint64_t id) { return fmt::format("v/record-{:06}.json", id); }
  std::string checkpoint() const {
    return fmt::format("{}:{}", chain_.checkpoint().count, chain_.checkpoint().head_sha256);
  }
  void ExpectFault(const ProgramResult& result, const std::string& text) {
    EXPECT_EQ(result.status, 65) << result.out;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_EQ(result.out, "");
  }

 private:
  matrix::Chain chain_;
};

TEST_F(RecordVerifyTest, AWholeChain) {
  const ProgramResult result = Run({"record", "verify", folder / "v"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("4 records"));
  EXPECT_THAT(result.out, HasSubstr("whole"));
  EXPECT_THAT(result.out, HasSubstr(checkpoint()));
  EXPECT_EQ(Run({"record", "verify", folder / "v", "--checkpoint", checkpoint()}).status, 0);
}

TEST_F(RecordVerifyTest, SomeRecords) {
  const ProgramResult result = Run({"record", "verify", folder / Name(2), folder / Name(3)});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("part of one"));
}

TEST_F(RecordVerifyTest, AnEditedRecord) {
  std::string text = folder.Read(Name(2));
  const size_t at = text.find("\"someone\"");
  ASSERT_NE(at, std::string::npos);
  folder.Write(Name(2), text.replace(at, 9, "\"nobody1\""));
  ExpectFault(Run({"record", "verify", folder / "v"}), "");
}

TEST_F(RecordVerifyTest, AMissingRecord) {
  std::filesystem::remove(folder / Name(2));
  ExpectFault(Run({"record", "verify", folder / "v"}), "");
}

TEST_F(RecordVerifyTest, ACutChainShowsWithItsCheckpoint) {
  std::filesystem::remove(folder / Name(4));
  EXPECT_EQ(Run({"record", "verify", folder / "v"}).status, 0) << "what is left is a chain";
  ExpectFault(Run({"record", "verify", folder / "v", "--checkpoint", checkpoint()}), "");
}

// Whichever records are gone, the first ones included.
TEST_F(RecordVerifyTest, ACheckpointAsksForTheWholeChain) {
  for (int left = 1; left < 15; ++left) {
    std::vector<std::string> arguments = {"record", "verify", "--checkpoint", checkpoint()};
    for (uint64_t id = 1; id <= 4; ++id) {
      if ((left & (1 << (id - 1))) != 0) arguments.push_back(folder / Name(id));
    }
    ExpectFault(Run(arguments), "");
  }
}

TEST_F(RecordVerifyTest, AWrongCheckpointIsNotTakenForNone) {
  const std::string digest(64, 'a');
  for (const std::string& text :
       std::vector<std::string>{"", ":", "4", "4:", ":" + digest, "x:" + digest, "-1:" + digest, "4 :" + digest,
                                "4:" + std::string(64, 'A'), "4:" + digest + "b", "0:" + digest, "0:garbage",
                                "4:" + std::string(64, '0'), "18446744073709551616:" + digest}) {
    const ProgramResult result = Run({"record", "verify", folder / "v", "--checkpoint", text});
    EXPECT_EQ(result.status, 64) << text;
    EXPECT_THAT(result.err, HasSubstr("--checkpoint: " + text)) << text;
    EXPECT_EQ(result.out, "") << text;
  }
  EXPECT_EQ(Run({"record", "verify", folder / "v", "--checkpoint", "0:" + std::string(64, '0')}).status, 0);
}

TEST_F(RecordVerifyTest, ACutFile) {
  const std::string text = folder.Read(Name(4));
  for (const size_t size : {size_t{0}, size_t{1}, text.size() / 2, text.size() - 1}) {
    folder.Write(Name(4), text.substr(0, size));
    ExpectFault(Run({"record", "verify", folder / "v"}), Name(4));
  }
}

TEST_F(RecordVerifyTest, AnEmptyFolder) {
  std::filesystem::create_directory(folder / "empty");
  ExpectFault(Run({"record", "verify", folder / "empty"}), "no records");
}

}  // namespace
}  // namespace pyptox::ctl
