#include "base/relative_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_io.h"
#include "tests/support/temp_folder.h"

namespace pyptox {
namespace {

using testing::HasSubstr;

TEST(CheckRelativePath, TakesPlainNames) {
  for (const std::string& good :
       {std::string("a"), std::string("a/b.c/d-e_f"), std::string("..."), std::string("a/..b/c.."),
        std::string("数据/文件"), std::string("a b"), std::string("-rf"), std::string("a\\b"), std::string(255, 'x'),
        std::string("C:"), std::string(".git/x")}) {
    EXPECT_TRUE(CheckRelativePath(good).ok()) << good;
  }
}

TEST(CheckRelativePath, RefusesHostileNames) {
  std::string long_path = "x";
  while (long_path.size() <= 4096) long_path += "/x";
  for (const std::string& bad : {std::string(),
                                 std::string("/"),
                                 std::string("/etc/passwd"),
                                 std::string("."),
                                 std::string(".."),
                                 std::string("../x"),
                                 std::string("a/../b"),
                                 std::string("a/.."),
                                 std::string("a/./b"),
                                 std::string("a//b"),
                                 std::string("a/"),
                                 std::string("./a"),
                                 std::string("a\0b", 3),
                                 std::string("a\nb"),
                                 std::string("a\x1b[2Jb"),
                                 std::string("a\x7f"),
                                 std::string("a\xC2\x9B"
                                             "31mb"),
                                 std::string("\xff"),
                                 std::string("a/\xC0\xAE\xC0\xAE/b"),
                                 std::string("\xED\xA0\x80"),
                                 std::string(256, 'x'),
                                 "a/" + std::string(256, 'x'),
                                 long_path}) {
    EXPECT_EQ(CheckRelativePath(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  EXPECT_THAT(CheckRelativePath("a\x1b[2Jb").message(), HasSubstr("\"a\\x1b[2Jb\""));
}

TEST(CheckName, TakesTheAlphabetOnly) {
  for (const char* good : {"a", "A-1_b.c", "0", "_x", "9.0"}) EXPECT_TRUE(CheckName(good).ok()) << good;
  EXPECT_TRUE(CheckName(std::string(255, 'n')).ok());
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".a"), std::string("-a"), std::string("a b"), std::string("a/b"),
        std::string("é"), std::string("a\n"), std::string(256, 'n')}) {
    EXPECT_EQ(CheckName(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(GlobMatches, Table) {
  for (const auto& [glob, path, match] : std::vector<std::tuple<const char*, const char*, bool>>{
           {"a.cc", "a.cc", true},
           {"a.cc", "aacc", false},
           {"*.cc", "a.cc", true},
           {"*.cc", "x/a.cc", false},
           {"*", "", true},
           {"?", "", false},
           {"?", "a", true},
           {"?", "é", true},
           {"?", "/", false},
           {"a*b*c", "aXbXbc", true},
           {"a*b*c", "aXbXbd", false},
           {"*a", "aaa", true},
           {"**", "a/b/c", true},
           {"**/x", "x", true},
           {"**/x", "a/b/x", true},
           {"**/x", "a/b/y", false},
           {"a/**", "a/b/c", true},
           {"a/**", "a", true},
           {"a/**/b", "a/b", true},
           {"a/**/b", "a/x/y/b", true},
           {"a/**/b/**/c", "a/b/x/b/c", true},
           {"a/**/b", "a/x/bb", false},
           {"src/**/*.h", "src/x/y.h", true},
           {"src/**/*.h", "src/y.h", true},
           {"src/**/*.h", "lib/y.h", false},
           {"a**", "ab/c", false},
           {"[a]", "a", false},
       }) {
    EXPECT_EQ(GlobMatches(glob, path), match) << glob << " on " << path;
  }
}

TEST(GlobMatches, ManyStarsTakeNoExponentialTime) {
  std::string glob, part;
  for (int i = 0; i < 100; ++i) glob += "*a";
  part.assign(2000, 'a');
  EXPECT_FALSE(GlobMatches(glob + "b", part));
  std::string deep_glob = "x", deep_path = "x";
  for (int i = 0; i < 100; ++i) deep_glob += "/**/a";
  for (int i = 0; i < 1000; ++i) deep_path += "/a";
  EXPECT_FALSE(GlobMatches(deep_glob + "/b", deep_path));
}

TEST(OpenBeneath, MakesParentsAndFiles) {
  TempFolder folder;
  const UniqueFd root = folder.Open();
  absl::StatusOr<UniqueFd> fd = OpenBeneath(root.get(), "a/b/c", O_WRONLY | O_CREAT | O_EXCL, 0640);
  ASSERT_TRUE(fd.ok()) << fd.status();
  ASSERT_TRUE(WriteAll(fd->get(), "x").ok());
  EXPECT_EQ(folder.Read("a/b/c"), "x");
  EXPECT_EQ(folder.Mode("a"), 0700);
  EXPECT_EQ(OpenBeneath(root.get(), "a/b/c", O_WRONLY | O_CREAT | O_EXCL).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(OpenBeneath(root.get(), "a/b", O_RDONLY | O_DIRECTORY).ok());
  EXPECT_EQ(OpenBeneath(root.get(), "a/x/c", O_RDONLY).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(fcntl(fd->get(), F_GETFD), FD_CLOEXEC);
}

TEST(OpenBeneath, RefusesNamesThatLeave) {
  TempFolder folder;
  folder.Write("root/f", "x");
  folder.Write("secret", "s");
  const UniqueFd root(open((folder / "root").c_str(), O_RDONLY | O_DIRECTORY));
  for (const char* bad : {"../secret", "/etc/passwd", "a/../../secret", "", "."}) {
    EXPECT_EQ(OpenBeneath(root.get(), bad, O_RDONLY).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(OpenBeneath, FollowsNoSymbolicLink) {
  TempFolder folder;
  folder.Write("outside/secret", "s");
  folder.Write("root/inner/f", "x");
  const auto link = [&](const std::string& target, const std::string& name) {
    ASSERT_EQ(symlink(target.c_str(), (folder / ("root/" + name)).c_str()), 0);
  };
  link("../outside", "out");
  link("out", "chain");
  link("chain", "chain2");
  link("inner", "in");
  link(folder / "outside/secret", "file");
  link("inner/f", "file_in");
  link("loop", "loop");
  link("../outside/new", "dangling");
  const UniqueFd root(open((folder / "root").c_str(), O_RDONLY | O_DIRECTORY));
  for (const char* bad : {"out/secret", "chain/secret", "chain2/secret", "in/f", "file", "file_in", "loop", "loop/x"}) {
    for (int flags : {O_RDONLY, O_WRONLY | O_CREAT, O_WRONLY | O_CREAT | O_TRUNC}) {
      EXPECT_EQ(OpenBeneath(root.get(), bad, flags).status().code(), absl::StatusCode::kFailedPrecondition)
          << bad << " " << flags;
    }
  }
  EXPECT_FALSE(OpenBeneath(root.get(), "dangling", O_WRONLY | O_CREAT).ok());
  EXPECT_FALSE(OpenBeneath(root.get(), "out/made/x", O_WRONLY | O_CREAT).ok());
  EXPECT_EQ(OpenBeneath(root.get(), "inner/f/x", O_RDONLY).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(folder.Read("outside/secret"), "s");
  EXPECT_EQ(folder.Read("root/inner/f"), "x");
  EXPECT_FALSE(std::filesystem::exists(folder / "outside/new"));
  EXPECT_FALSE(std::filesystem::exists(folder / "outside/made"));
}

}  // namespace
}  // namespace pyptox
