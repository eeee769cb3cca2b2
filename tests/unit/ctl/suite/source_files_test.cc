#include "ctl/suite/source_files.h"

#include <sys/stat.h>

#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace pyptox::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

v1::Suite Globs(const std::vector<std::string>& globs) {
  v1::Suite suite;
  for (const std::string& glob : globs) suite.add_sources(glob);
  return suite;
}

std::vector<std::string> Names(const SourceFiles& sources) {
  std::vector<std::string> names;
  for (const v1::FileEntry& file : sources.tree.files()) names.push_back(file.name());
  return names;
}

TEST(SourceFilesTest, GlobsPickRegularFilesOnce) {
  const TempFolder folder;
  for (const char* name :
       {"b.c", "a.c", "sub/c.c", "sub/deep/d.c", "sub/e.h", ".git/config", "sub/.git/x.c", ".hidden.c"}) {
    folder.Write(name, name);
  }
  EXPECT_THAT(Names(CollectSources(folder.path(), Globs({"*.c", "a.*"}))), ElementsAre(".hidden.c", "a.c", "b.c"));
  EXPECT_THAT(Names(CollectSources(folder.path(), Globs({"sub/**"}))),
              ElementsAre("sub/c.c", "sub/deep/d.c", "sub/e.h"));
  const SourceFiles none = CollectSources(folder.path(), Globs({"a.c", "*.cc"}));
  EXPECT_THAT(none.faults, ElementsAre(Pair("sources[1]", "no file matches '*.cc'")));
}

TEST(SourceFilesTest, ManifestOfAFile) {
  const TempFolder folder;
  folder.Write("run.sh", "#!/bin/sh\n");
  chmod((folder / "run.sh").c_str(), 0755);
  const SourceFiles sources = CollectSources(folder.path(), Globs({"*"}));
  ASSERT_EQ(sources.tree.files_size(), 1);
  EXPECT_TRUE(sources.tree.files(0).executable());
  EXPECT_EQ(sources.tree.files(0).size(), 10u);
  EXPECT_EQ(sources.tree.files(0).sha256(), Sha256Of("#!/bin/sh\n").Hex());
  EXPECT_THAT(sources.paths, ElementsAre(Pair(Sha256Of("#!/bin/sh\n").Hex(), folder / "run.sh")));
}

TEST(SourceFilesTest, TheGoldenLockComesAlongWhenItIsThere) {
  const TempFolder folder;
  folder.Write("a.c", "");
  v1::Suite suite = Globs({"*.c"});
  suite.set_golden_lock("golden.sha256");
  EXPECT_THAT(Names(CollectSources(folder.path(), suite)), ElementsAre("a.c"));
  folder.Write("golden.sha256", "");
  EXPECT_THAT(Names(CollectSources(folder.path(), suite)), ElementsAre("a.c", "golden.sha256"));
}

TEST(SourceFilesTest, WhatIsNoRegularFileIsAFault) {
  const TempFolder folder;
  folder.Write("a.c", "");
  ASSERT_EQ(mkfifo((folder / "pipe.c").c_str(), 0600), 0);
  folder.Write("bad\nname.c", "");
  const SourceFiles sources = CollectSources(folder.path(), Globs({"*.c"}));
  EXPECT_THAT(Names(sources), ElementsAre("a.c"));
  ASSERT_EQ(sources.faults.size(), 2u);
  EXPECT_THAT(sources.faults[1].second, HasSubstr("pipe.c is not a regular file"));
}

TEST(SourceFilesTest, ChangesAreSeen) {
  const TempFolder folder;
  folder.Write("a.c", "one");
  folder.Write("b.c", "two");
  const SourceFiles sources = CollectSources(folder.path(), Globs({"*.c"}));
  EXPECT_TRUE(CheckUnchanged(sources.stamps).ok());
  folder.Write("b.c", "TWO");
  // The clock of file times is coarse: a write in the same tick would be seen by nobody.
  const timespec times[2] = {{0, UTIME_OMIT}, {1'000'000'000, 0}};
  utimensat(AT_FDCWD, (folder / "b.c").c_str(), times, 0);
  const absl::Status status = CheckUnchanged(sources.stamps);
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder / "b.c"));
  std::filesystem::remove(folder / "b.c");
  EXPECT_TRUE(absl::IsAborted(CheckUnchanged(sources.stamps)));
}

TEST(SourceFilesTest, AFolderThatIsNotThere) {
  EXPECT_THAT(CollectSources("/nonexistent", Globs({"*"})).faults,
              ElementsAre(Pair("sources", HasSubstr("/nonexistent"))));
}

}  // namespace
}  // namespace pyptox::ctl
