#include "matrix/tree_digest.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace pyptox::matrix {
namespace {

v1::Tree MakeTree(std::initializer_list<const char*> names) {
  v1::Tree tree;
  for (const char* name : names) {
    v1::FileEntry& file = *tree.add_files();
    file.set_name(name);
    file.set_size(3);
    file.set_sha256(Sha256Of(name).Hex());
  }
  return tree;
}

TEST(TreeDigest, ATreeIsSortedUniqueAndHarmless) {
  EXPECT_TRUE(CheckTree({}).ok());
  EXPECT_TRUE(CheckTree(MakeTree({"a.c", "b/a.c", "b/b.c"})).ok());
  EXPECT_EQ(CheckTree(MakeTree({"b.c", "a.c"})).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckTree(MakeTree({"a.c", "a.c"})).code(), absl::StatusCode::kInvalidArgument);
  for (const char* name : {"", "/etc/passwd", "../a.c", "a/../b", "a//b", "a/", "a\nb", "\xff"}) {
    EXPECT_EQ(CheckTree(MakeTree({name})).code(), absl::StatusCode::kInvalidArgument) << name;
  }
  for (const char* digest : {"", "abc", "ABCDEF"}) {
    v1::Tree tree = MakeTree({"a.c"});
    tree.mutable_files(0)->set_sha256(digest);
    EXPECT_EQ(CheckTree(tree).code(), absl::StatusCode::kInvalidArgument) << digest;
  }
}

TEST(TreeDigest, IsTheDigestOfTheCanonicalManifest) {
  EXPECT_EQ(TreeSha256({}), Sha256Of("{}").Hex());
  v1::Tree tree;
  v1::FileEntry& file = *tree.add_files();
  file.set_name("run.sh");
  file.set_executable(true);
  file.set_size(7);
  file.set_sha256(std::string(64, '0'));
  EXPECT_EQ(TreeSha256(tree), Sha256Of(R"({"files":[{"executable":true,"name":"run.sh","sha256":")" +
                                       std::string(64, '0') + R"(","size":"7"}]})")
                                  .Hex());
}

TEST(TreeDigest, EveryPartOfAnEntryCounts) {
  const v1::Tree tree = MakeTree({"a.c", "b.c"});
  const std::string digest = TreeSha256(tree);
  const auto changed = [&](auto change) {
    v1::Tree other = tree;
    change(*other.mutable_files(1));
    return TreeSha256(other) != digest;
  };
  EXPECT_TRUE(changed([](v1::FileEntry& file) { file.set_name("c.c"); }));
  EXPECT_TRUE(changed([](v1::FileEntry& file) { file.set_executable(true); }));
  EXPECT_TRUE(changed([](v1::FileEntry& file) { file.set_size(4); }));
  EXPECT_TRUE(changed([](v1::FileEntry& file) { file.set_sha256(std::string(64, '0')); }));
}

TEST(TreeDigest, GoldenDigestCoversGoldensAndPinsOnly) {
  v1::Suite suite;
  suite.set_golden_lock("golden.sha256");
  suite.add_cases()->add_buffers()->mutable_golden()->set_path("golden/add.bin");
  suite.add_lanes()->mutable_run()->add_compare()->set_golden("golden/run.bin");
  const v1::Tree tree = MakeTree({"a.c", "golden.sha256", "golden/add.bin", "golden/run.bin"});
  const auto line = [](const char* name) { return Sha256Of(name).Hex() + "  " + name + "\n"; };
  EXPECT_EQ(GoldenSha256(suite, tree),
            Sha256Of(line("golden.sha256") + line("golden/add.bin") + line("golden/run.bin")).Hex());
  v1::Tree other = tree;
  other.mutable_files(0)->set_sha256(std::string(64, '0'));
  EXPECT_EQ(GoldenSha256(suite, other), GoldenSha256(suite, tree)) << "a source is no golden file";
  for (const int file : {1, 2, 3}) {
    other = tree;
    other.mutable_files(file)->set_sha256(std::string(64, '0'));
    EXPECT_NE(GoldenSha256(suite, other), GoldenSha256(suite, tree)) << file;
  }
}

TEST(TreeDigest, ASuiteDigestSeesEveryChange) {
  v1::Suite suite;
  suite.set_name("ops");
  const std::string digest = SuiteSha256(suite);
  EXPECT_EQ(digest, Sha256Of(R"({"name":"ops"})").Hex());
  suite.mutable_contract()->set_version("2");
  EXPECT_NE(SuiteSha256(suite), digest);
}

}  // namespace
}  // namespace pyptox::matrix
