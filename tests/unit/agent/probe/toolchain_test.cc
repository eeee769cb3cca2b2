#include "agent/probe/toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/file_io.h"
#include "base/sha256.h"

namespace pyptox::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ToolchainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pyptox-tool.XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    ASSERT_TRUE(MakeFolders(folder_ + "/a").ok());
    ASSERT_TRUE(MakeFolders(folder_ + "/b/cc").ok());  // A folder named like the tool is not the tool.
    ASSERT_TRUE(WriteFileAtomically(folder_ + "/a/cc", "not executable", 0600).ok());
    ASSERT_TRUE(MakeFolders(folder_ + "/c").ok());
    ASSERT_TRUE(WriteFileAtomically(folder_ + "/c/cc-13", "#!/bin/sh\n", 0700).ok());
    ASSERT_EQ(symlink("cc-13", (folder_ + "/c/cc").c_str()), 0);
    path_ = folder_ + "/a:" + folder_ + "/b::" + folder_ + "/c";
  }
  void TearDown() override { ASSERT_TRUE(RemoveTree(folder_).ok()); }

  std::string folder_;
  std::string path_;
};

TEST_F(ToolchainTest, TheRealBinaryIsMeasuredNotItsName) {
  std::vector<std::string> asked;
  const auto tool = MeasureToolchain("cc", path_, folder_, [&](const std::vector<std::string>& argv) {
    asked = argv;
    return absl::StatusOr<std::string>("\x1b[1mcc 13.3.73\x1b[0m\nCopyright\n");
  });
  ASSERT_TRUE(tool.ok()) << tool.status();
  EXPECT_THAT(asked, ElementsAre(folder_ + "/c/cc", "--version"));
  EXPECT_EQ(tool->name(), "cc");
  EXPECT_EQ(tool->path(), folder_ + "/c/cc-13");
  EXPECT_EQ(tool->version(), "[1mcc 13.3.73[0m");
  EXPECT_EQ(tool->sha256(), Sha256Of(std::string_view("#!/bin/sh\n")).Hex());
}

TEST_F(ToolchainTest, AToolWithoutAVersionIsUnknown) {
  const auto tool = MeasureToolchain("cc", path_, folder_, [](const auto&) -> absl::StatusOr<std::string> {
    return absl::DeadlineExceededError("slow");
  });
  ASSERT_TRUE(tool.ok());
  EXPECT_EQ(tool->version(), "unknown");
}

TEST_F(ToolchainTest, AnAbsentToolIsNotFoundByName) {
  const auto tool = FindProgram("nvcc", path_, folder_);
  EXPECT_EQ(tool.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(tool.status().message()), HasSubstr("nvcc"));
  EXPECT_EQ(FindProgram("a/cc", path_, folder_).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindProgram("c/cc", path_, folder_).value(), folder_ + "/c/cc");
}

}  // namespace
}  // namespace pyptox::agent
