#include "backends/runner/file_region.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "tests/support/temp_folder.h"

namespace pyptox::runner {
namespace {

using testing::HasSubstr;

std::string TextOf(const MappedRegion& region) {
  return {reinterpret_cast<const char*>(region.bytes().data()), region.bytes().size()};
}

TEST(FileRegion, AWholeFileHasExactlyTheLength) {
  TempFolder folder;
  folder.Write("f", "abcdef");
  const absl::StatusOr<MappedRegion> whole = MappedRegion::Open({folder / "f", 0, false}, 6);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(TextOf(*whole), "abcdef");
  for (const uint64_t bytes : {0, 5, 7}) {
    const absl::Status status = MappedRegion::Open({folder / "f", 0, false}, bytes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << bytes;
    EXPECT_THAT(std::string(status.message()), HasSubstr("f has 6 bytes"));
  }
}

TEST(FileRegion, APackedFileMayHoldMore) {
  TempFolder folder;
  std::string data(10000, 'x');
  data.replace(5000, 5, "hello");
  folder.Write("f", data);
  const absl::StatusOr<MappedRegion> region = MappedRegion::Open({folder / "f", 5000, true}, 5);
  ASSERT_TRUE(region.ok()) << region.status();
  EXPECT_EQ(TextOf(*region), "hello");
  EXPECT_TRUE(MappedRegion::Open({folder / "f", 9999, true}, 1).ok());
  EXPECT_TRUE(MappedRegion::Open({folder / "f", 10000, true}, 0).ok());
  EXPECT_FALSE(MappedRegion::Open({folder / "f", 9999, true}, 2).ok());
  EXPECT_FALSE(MappedRegion::Open({folder / "f", 10001, true}, 0).ok());
  // Not packed, the file ends where the region ends.
  EXPECT_TRUE(MappedRegion::Open({folder / "f", 9990, false}, 10).ok());
  EXPECT_FALSE(MappedRegion::Open({folder / "f", 5000, false}, 5).ok());
}

TEST(FileRegion, OnlyRegularFiles) {
  TempFolder folder;
  EXPECT_EQ(MappedRegion::Open({folder / "none", 0, false}, 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MappedRegion::Open({folder.path(), 0, true}, 1).status().code(), absl::StatusCode::kFailedPrecondition);
}

// Nobody writes into it: whoever waits for that waits for ever.
TEST(FileRegion, AFifoIsRefusedAtOnce) {
  TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(MappedRegion::Open({folder / "fifo", 0, true}, 1).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(FileRegion, ASparseFileOfGigabytesIsOnlyMapped) {
  TempFolder folder;
  constexpr uint64_t kBytes = 1'574'877'952;
  folder.Write("f", "");
  ASSERT_EQ(truncate((folder / "f").c_str(), static_cast<off_t>(kBytes)), 0);
  const absl::StatusOr<MappedRegion> end = MappedRegion::Open({folder / "f", kBytes - 3, true}, 3);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(TextOf(*end), std::string(3, '\0'));
}

}  // namespace
}  // namespace pyptox::runner
