#include "ctl/suite/suite_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace pyptox::ctl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string SourceFolder() { return std::getenv("PYPTOX_SOURCE_DIR"); }

// A suite of one case with a golden file, whole.
constexpr char kSuite[] = R"(name: small
contract: {name: small, version: 9.0}
sources: ["*.c", data/**]
golden_lock: golden.sha256
planned: 2
cases_from: [more.yaml]
lanes:
  - name: cpu-scalar@dev
    target: cpu-scalar
    resource: {name: dev}
    compile:
      - {argv: [gcc, -o, build/k.so, src/k.c], outputs: [build/k.so]}
    kernel: {module: build/k.so}
cases:
  - name: one
    kernel: add
    buffers:
      - {name: y, role: out, dtype: f32, shape: [2], golden: {path: data/y.bin}}
)";

constexpr char kMore[] = R"(cases:
  - name: two
    kernel: add
    buffers:
      - {name: x, role: in, dtype: f32, shape: [2], file: {path: data/x.bin}}
      - {name: y, role: out, dtype: f32, shape: [2], golden: {path: data/y.bin}}
)";

class SuiteFileTest : public ::testing::Test {
 protected:
  SuiteFileTest() {
    folder.Write("suite.yaml", kSuite);
    folder.Write("more.yaml", kMore);
    folder.Write("k.c", "int x;\n");
    folder.Write("data/x.bin", "12345678");
    folder.Write("data/y.bin", "abcdefgh");
    folder.Write("golden.sha256", Sha256Of("abcdefgh").Hex() + "  data/y.bin\n");
    folder.Write("notes.txt", "not declared");
  }
  SuiteFile Load() { return LoadSuite(folder / "suite.yaml"); }
  void Replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = folder.Read(file);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    folder.Write(file, text.replace(at, from.size(), to));
  }
  // Faults without the folder in front.
  std::vector<std::string> Faults() {
    std::vector<std::string> texts;
    for (const TextFault& fault : Load().faults) {
      std::string text = fault.ToString();
      if (text.starts_with(folder.path())) text.erase(0, folder.path().size() + 1);
      texts.push_back(text);
    }
    return texts;
  }

  TempFolder folder;
};

TEST_F(SuiteFileTest, WholeSuite) {
  const SuiteFile loaded = Load();
  EXPECT_THAT(Faults(), IsEmpty());
  EXPECT_THAT(loaded.pin_faults, IsEmpty());
  EXPECT_EQ(loaded.suite.contract().version(), "9.0");
  ASSERT_EQ(loaded.suite.cases_size(), 2);
  EXPECT_EQ(loaded.suite.cases(1).name(), "two");
  EXPECT_EQ(std::filesystem::path(loaded.folder), std::filesystem::canonical(folder.path()));
  EXPECT_THAT(loaded.files, ElementsAre("suite.yaml", "more.yaml"));
  std::vector<std::string> names;
  for (const v1::FileEntry& file : loaded.tree.files()) names.push_back(file.name());
  EXPECT_THAT(names, ElementsAre("data/x.bin", "data/y.bin", "golden.sha256", "k.c"));
  const v1::FileEntry* x = loaded.Find("data/x.bin");
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->size(), 8u);
  EXPECT_EQ(x->sha256(), Sha256Of("12345678").Hex());
  EXPECT_EQ(loaded.paths.at(x->sha256()), loaded.folder + "/data/x.bin");
  EXPECT_EQ(loaded.Find("notes.txt"), nullptr);
  EXPECT_THAT(GoldenFiles(loaded.suite), ElementsAre("data/y.bin"));
}

TEST_F(SuiteFileTest, JsonIsAccepted) {
  folder.Write("suite.yaml",
               R"({"name": "j", "contract": {"name": "j", "version": "1"}, "sources": ["k.c"], "planned": 1,
    "lanes": [{"name": "cpu-scalar@dev", "target": "cpu-scalar", "resource": {"name": "dev"},
               "run": {"argv": ["true"], "report": {"format": "tap", "file": "build/r", "planned": 1}}}]})");
  EXPECT_THAT(Faults(), IsEmpty());
}

TEST_F(SuiteFileTest, FaultsOfTheTextComeTogetherWithFileAndLine) {
  Replace("suite.yaml", "planned: 2", "planned: many");
  Replace("suite.yaml", "    kernel: add", "    kernel: add\n    colour: red");
  Replace("more.yaml", "dtype: f32", "dtype: f31");
  const std::vector<std::string> faults = Faults();
  ASSERT_THAT(faults, SizeIs(3));
  const std::string all = faults[0] + "\n" + faults[1] + "\n" + faults[2];
  EXPECT_THAT(all, HasSubstr("suite.yaml:5: planned: "));
  EXPECT_THAT(all, HasSubstr("suite.yaml:17: cases[0].colour: "));
  EXPECT_THAT(all, HasSubstr("more.yaml:5: cases[0].buffers[0].dtype: "));
}

TEST_F(SuiteFileTest, FaultsOfTheRulesNameTheFileThatWroteThem) {
  Replace("more.yaml", "name: two", "name: one");
  Replace("suite.yaml", "[\"*.c\", data/**]", "[\"*.c\", data/**, gone/**]");
  const std::vector<std::string> faults = Faults();
  ASSERT_THAT(faults, SizeIs(2));
  EXPECT_THAT(faults[0], HasSubstr("more.yaml:2: cases[0].name: "));
  EXPECT_THAT(faults[1], HasSubstr("suite.yaml:3: sources[2]: no file matches 'gone/**'"));
}

TEST_F(SuiteFileTest, ADeclaredFileThatIsNotThere) {
  std::filesystem::remove(folder / "data/x.bin");
  EXPECT_THAT(
      Faults(),
      ElementsAre("more.yaml:5: cases[0].buffers[0].file.path: data/x.bin is not there, or not a regular file"));
}

TEST_F(SuiteFileTest, ACaseFileThatIsNotThere) {
  std::filesystem::remove(folder / "more.yaml");
  ASSERT_THAT(Faults(), SizeIs(1));
  EXPECT_THAT(Faults()[0], HasSubstr("more.yaml"));
}

TEST_F(SuiteFileTest, NoSuite) {
  const SuiteFile loaded = LoadSuite(folder / "none.yaml");
  ASSERT_THAT(loaded.faults, SizeIs(1));
  EXPECT_THAT(loaded.faults[0].ToString(), HasSubstr("none.yaml"));
  EXPECT_THAT(LoadSuite(folder.path()).faults, SizeIs(1)) << "a folder";
  EXPECT_THAT(LoadSuite("/dev/null/x").faults, SizeIs(1));
}

TEST_F(SuiteFileTest, LinksAreNotFollowed) {
  const TempFolder elsewhere;
  elsewhere.Write("secret.c", "x");
  ASSERT_EQ(symlink((elsewhere / "secret.c").c_str(), (folder / "linked.c").c_str()), 0);
  ASSERT_EQ(symlink(elsewhere.path().c_str(), (folder / "data/elsewhere").c_str()), 0);
  EXPECT_THAT(Faults(), ElementsAre("suite.yaml:3: sources: data/elsewhere is not a regular file",
                                    "suite.yaml:3: sources: linked.c is not a regular file"));
}

TEST_F(SuiteFileTest, PinsAreLookedAtButDoNotStopARun) {
  folder.Write("data/y.bin", "abcdefgi");
  SuiteFile loaded = Load();
  EXPECT_THAT(loaded.faults, IsEmpty());
  ASSERT_THAT(loaded.pin_faults, SizeIs(1));
  EXPECT_EQ(loaded.pin_faults[0].ToString(),
            folder / "suite.yaml" + ":4: golden_lock: data/y.bin is not pinned as it is now; `pyptox-ctl suite pin` " +
                "pins the files as they are now");
  ASSERT_TRUE(PinGoldens(loaded).ok());
  EXPECT_EQ(folder.Read("golden.sha256"), Sha256Of("abcdefgi").Hex() + "  data/y.bin\n");
  EXPECT_EQ(folder.Mode("golden.sha256"), 0644);
  EXPECT_THAT(Load().pin_faults, IsEmpty());
}

TEST_F(SuiteFileTest, ALockThatIsNotThereIsWritten) {
  std::filesystem::remove(folder / "golden.sha256");
  ASSERT_THAT(Load().pin_faults, SizeIs(1));
  EXPECT_THAT(Load().pin_faults[0].text, HasSubstr("golden.sha256 can't be read"));
  ASSERT_TRUE(PinGoldens(Load()).ok());
  EXPECT_THAT(Load().pin_faults, IsEmpty());
}

TEST_F(SuiteFileTest, APinMustBeAWholeLine) {
  folder.Write("golden.sha256", "0" + Sha256Of("abcdefgh").Hex() + "  data/y.bin\n");
  EXPECT_THAT(Load().pin_faults, SizeIs(1));
}

TEST(BrokenSuitesTest, EachHasTheFaultThatItsReadmeSays) {
  const std::string folder = SourceFolder() + "/examples/broken";
  std::ifstream readme(folder + "/README.md");
  // Rows look like "| `file` | `path`: fault |", or "| `file` | text |" for one without a fault.
  std::map<std::string, std::string> path_of;
  for (std::string line; std::getline(readme, line);) {
    const size_t name_end = line.find("` | ");
    if (!line.starts_with("| `") || name_end == std::string::npos) continue;
    const size_t path = name_end + 4;
    const size_t path_end = line.find("`: ", path);
    const bool has_path = line[path] == '`' && path_end != std::string::npos;
    path_of[line.substr(3, name_end - 3)] = has_path ? line.substr(path + 1, path_end - path - 1) : "";
  }
  int suites = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".yaml") continue;
    ++suites;
    const std::string name = entry.path().filename();
    ASSERT_TRUE(path_of.contains(name)) << name;
    const SuiteFile loaded = LoadSuite(entry.path());
    if (path_of[name].empty()) {
      EXPECT_THAT(loaded.faults, IsEmpty()) << name << ": " << Lines(loaded.faults);
      continue;
    }
    // One mistake may break two rules; the README names the one that the suite is there for.
    const auto at = std::find_if(loaded.faults.begin(), loaded.faults.end(),
                                 [&](const TextFault& fault) { return fault.path == path_of[name]; });
    ASSERT_NE(at, loaded.faults.end()) << name << ": " << Lines(loaded.faults);
    EXPECT_EQ(at->file, entry.path());
  }
  EXPECT_EQ(suites, static_cast<int>(path_of.size())) << "a row without its file";
}

TEST(PortableOpsTest, IsWholeAndPinned) {
  const SuiteFile loaded = LoadSuite(SourceFolder() + "/examples/portable-ops/suite.yaml");
  EXPECT_THAT(loaded.faults, IsEmpty()) << Lines(loaded.faults);
  EXPECT_THAT(loaded.pin_faults, IsEmpty()) << Lines(loaded.pin_faults);
  EXPECT_GE(loaded.suite.cases_size(), 40);
  EXPECT_EQ(loaded.suite.lanes_size(), 4);
}

}  // namespace
}  // namespace pyptox::ctl
