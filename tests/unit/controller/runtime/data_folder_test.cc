#include "controller/runtime/data_folder.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <string>

#include "base/file_io.h"
#include "gtest/gtest.h"

namespace pyptox::controller {
namespace {

TEST(DataFolder, HasOneOwnerAtATime) {
  char name[] = "/tmp/pyptox-data-folder-XXXXXX";
  const std::string folder = mkdtemp(name);
  const std::string data = folder + "/a/b";
  {
    const auto first = DataFolder::Open(data);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(first->database(), data + "/pyptox.db");
    const auto second = DataFolder::Open(data);
    EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(second.status().message(), "another controller uses " + data);
    struct stat info;
    ASSERT_EQ(stat(data.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
  EXPECT_TRUE(DataFolder::Open(data).ok());
  EXPECT_TRUE(RemoveTree(folder).ok());
}

TEST(DataFolder, SaysWhyNot) { EXPECT_FALSE(DataFolder::Open("/dev/null/x").ok()); }

}  // namespace
}  // namespace pyptox::controller
