#include "agent/exec/opened_files.h"

#include <map>

#include "base/sha256.h"
#include "tests/unit/agent/exec/exec_fixture.h"

namespace pyptox::agent {
namespace {

using ::testing::TempDir;

class OpenedFilesTest : public ExecFixture {
 protected:
  // Inputs inside the scratch folder, by name.
  std::map<std::string, OpenedInput> Inside(const ProcessOutcome& outcome) const {
    std::map<std::string, OpenedInput> inside;
    for (const OpenedInput& input : outcome.opened) {
      if (input.path.starts_with(folder_ + "/")) {
        EXPECT_TRUE(inside.emplace(input.path.substr(folder_.size() + 1), input).second) << input.path << " twice";
      }
    }
    return inside;
  }
  static const OpenedInput* Find(const ProcessOutcome& outcome, const std::string& path) {
    for (const OpenedInput& input : outcome.opened) {
      if (input.path == path) return &input;
    }
    return nullptr;
  }
  static std::string Real(const std::string& path) {
    char* real = realpath(path.c_str(), nullptr);
    const std::string result = real == nullptr ? "" : real;
    free(real);
    return result;
  }
};

TEST_F(OpenedFilesTest, ASmallCatIsExact) {
  Write("a", "alpha");
  Write("b", "beta");
  Write("not-read", "gamma");
  const auto outcome = Run(Shell("cat a b a >out; cat <a >>out; cat absent 2>/dev/null; ls >/dev/null; : <b"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const auto inside = Inside(*outcome);
  ASSERT_EQ(inside.size(), 2u);
  EXPECT_EQ(inside.at("a").sha256, Sha256Of(std::string_view("alpha")).Hex());
  EXPECT_EQ(inside.at("a").size, 5u);
  EXPECT_FALSE(inside.at("a").executed);
  EXPECT_EQ(inside.at("b").sha256, Sha256Of(std::string_view("beta")).Hex());
  EXPECT_EQ(outcome->unresolved, 0u);
  for (const OpenedInput& input : outcome->opened) {
    EXPECT_EQ(input.path.find("/proc/"), std::string::npos) << input.path;
    EXPECT_EQ(input.path.find("/dev/"), std::string::npos) << input.path;
    EXPECT_EQ(input.sha256, Sha256OfFile(input.path)->Hex()) << input.path;
  }
  const OpenedInput* cat = Find(*outcome, Real("/bin/cat"));
  ASSERT_NE(cat, nullptr);
  EXPECT_TRUE(cat->executed);
  const OpenedInput* shell = Find(*outcome, Real("/bin/sh"));
  ASSERT_NE(shell, nullptr);
  EXPECT_TRUE(shell->executed);
  EXPECT_EQ(std::count_if(outcome->opened.begin(), outcome->opened.end(),
                          [](const OpenedInput& input) {
                            return input.executed && input.path.find("/ld-linux") != std::string::npos;
                          }),
            1);
  EXPECT_EQ(std::count_if(outcome->opened.begin(), outcome->opened.end(),
                          [](const OpenedInput& input) { return input.path.ends_with("/libc.so.6"); }),
            1);
}

TEST_F(OpenedFilesTest, ACompileShowsCompilerSourcesAndHeadersButNotItsTemporaries) {
  Write("main.c", "#include \"part.h\"\nint main(void) { return PART; }\n");
  Write("part.h", "#define PART 0\n");
  Write("unused.h", "#error not included\n");
  ProcessSpec spec = Shell("cc -o main main.c && ./main");
  spec.env.push_back("TMPDIR=" + folder_);
  const auto outcome = Run(spec);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(outcome->exit_status, 0) << output_;
  const auto inside = Inside(*outcome);
  ASSERT_EQ(inside.size(), 3u);
  EXPECT_EQ(inside.at("main.c").sha256, Sha256OfFile(folder_ + "/main.c")->Hex());
  EXPECT_EQ(inside.at("part.h").sha256, Sha256OfFile(folder_ + "/part.h")->Hex());
  // Made by the step itself, but executed: it stands there.
  EXPECT_TRUE(inside.at("main").executed);
  EXPECT_EQ(inside.at("main").sha256, Sha256OfFile(folder_ + "/main")->Hex());
  for (const char* part : {"cc1", "as", "ld"}) {
    EXPECT_TRUE(std::any_of(outcome->opened.begin(), outcome->opened.end(), [&](const OpenedInput& input) {
      const std::string name = input.path.substr(input.path.rfind('/') + 1);
      return input.executed && (name == part || name.find("-" + std::string(part)) != name.npos);
    })) << part;
  }
}

TEST_F(OpenedFilesTest, ContentsAreThoseAtTheMomentOfTheOpen) {
  Write("a", "before");
  const auto outcome = Run(Shell("cat a >/dev/null; cp b a; cat a >/dev/null"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_NE(Find(*outcome, folder_ + "/a"), nullptr);
  EXPECT_EQ(Find(*outcome, folder_ + "/a")->sha256, Sha256Of(std::string_view("before")).Hex());
}

TEST_F(OpenedFilesTest, LinksRenamesAndDeletedFilesAreSeenByTheirRealName) {
  Write("real", "text");
  ASSERT_EQ(symlink("real", (folder_ + "/link").c_str()), 0);
  const auto outcome = Run(Shell("cat link; mv real moved; cat moved; exec 5<moved; rm moved; cat /proc/self/fd/5"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "texttexttext");
  const auto inside = Inside(*outcome);
  ASSERT_EQ(inside.size(), 3u);
  for (const char* name : {"real", "moved", "moved (deleted)"}) {
    EXPECT_EQ(inside.at(name).sha256, Sha256Of(std::string_view("text")).Hex()) << name;
  }
}

// What gets a name in the attempt's folder without being opened is as stale as what is copied there.
TEST_F(OpenedFilesTest, AFileIsSeenByTheNameThatItIsTakenFrom) {
  ASSERT_EQ(mkdir((folder_ + "/far").c_str(), 0700), 0);
  ASSERT_EQ(mkdir((folder_ + "/far/folder").c_str(), 0700), 0);
  for (const char* name : {"a", "b", "c", "d", "e"}) Write(std::string("far/") + name, name);
  Write("own", "o");
  Write("take.c", R"(
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void) {
  char link[64];
  const int fd = open("far/c", O_PATH);
  sprintf(link, "/proc/self/fd/%d", fd);
  const int far = open("far", O_PATH | O_DIRECTORY);
  return linkat(AT_FDCWD, link, AT_FDCWD, "c", AT_SYMLINK_FOLLOW) ||
         syscall(SYS_renameat2, AT_FDCWD, "own", far, "d", RENAME_EXCHANGE) || linkat(far, "e", AT_FDCWD, "e", 0);
})");
  ASSERT_EQ(Run(Shell("cc -o take take.c"))->exit_status, 0) << output_;
  const auto outcome =
      Run(Shell("ln far/a a && mv far/b b && mv far/folder folder && ./take && echo new >t && mv t u"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->exit_status, 0) << output_;
  EXPECT_EQ(outcome->unresolved, 0u);
  const auto inside = Inside(*outcome);
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    ASSERT_EQ(inside.count("far/" + name), 1u) << name;
    EXPECT_EQ(inside.at("far/" + name).sha256, Sha256Of(std::string_view(name)).Hex()) << name;
  }
  EXPECT_EQ(inside.count("far/folder"), 1u);
  EXPECT_EQ(inside.count("t"), 0u) << "made by the step itself";
}

#if defined(__x86_64__)
TEST_F(OpenedFilesTest, OpensOfA32BitCallAreCounted) {
  Write("old.c", R"(
#define _GNU_SOURCE
#include <sys/mman.h>
#include <string.h>
int main(void) {  /* such a call takes addresses below 4 GiB */
  char* name = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  strcpy(name, "old.c");
  long fd;
  __asm__ volatile("int $0x80" : "=a"(fd) : "a"(5), "b"(name), "c"(0), "d"(0) : "memory");
  return fd < 0 ? 77 : 0;
})");
  ASSERT_EQ(Run(Shell("cc -o old old.c"))->exit_status, 0) << output_;
  const auto outcome = Run(Shell("./old"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  if (outcome->exit_status == 77 || outcome->signal != 0) GTEST_SKIP() << "the kernel runs no 32-bit calls";
  EXPECT_EQ(outcome->unresolved, 1u);
}
#endif

TEST_F(OpenedFilesTest, AppendingToAFileOfOthersDoesNotHideIt) {
  Write("log", "old\n");
  const auto outcome = Run(Shell("echo new >>log; cat log"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(Inside(*outcome).count("log"), 1u);
  EXPECT_EQ(Inside(*outcome).at("log").sha256, Sha256Of(std::string_view("old\nnew\n")).Hex());
}

TEST_F(OpenedFilesTest, ScriptsAndTheirInterpreters) {
  Write("script", "#!/usr/bin/perl\nprint 'hello';\n");
  ASSERT_EQ(chmod((folder_ + "/script").c_str(), 0755), 0);
  const auto outcome = Run(Shell("./script"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "hello");
  EXPECT_EQ(Inside(*outcome).count("script"), 1u);
  const OpenedInput* perl = Find(*outcome, Real("/usr/bin/perl"));
  ASSERT_NE(perl, nullptr);
  EXPECT_TRUE(perl->executed);
}

TEST_F(OpenedFilesTest, FifosAreNotTouched) {
  ASSERT_EQ(mkfifo((folder_ + "/fifo").c_str(), 0600), 0);
  const auto outcome = Run(Shell("(echo through >fifo) & cat fifo; wait"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(output_, "through\n");
  EXPECT_TRUE(Inside(*outcome).empty());
}

}  // namespace
}  // namespace pyptox::agent
