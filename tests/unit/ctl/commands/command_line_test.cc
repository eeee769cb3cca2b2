// Command lines, right and wrong, without a controller.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "ctl/commands/wait.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/unit/ctl/commands/program_fixture.h"

namespace pyptox::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CommandLineTest : public ProgramTest {
 protected:
  CommandLineTest() {
    folder.Write("k.c", "int x;\n");
    folder.Write("suite.yaml", R"(name: small
contract: {name: small, version: "1"}
sources: ["*.c"]
planned: 1
lanes:
  - name: cpu-scalar@dev
    target: cpu-scalar
    resource: {name: dev}
    compile:
      - {argv: [gcc, -shared, -fPIC, -o, build/k.so, src/k.c], outputs: [build/k.so]}
    kernel: {module: build/k.so}
cases:
  - name: refused
    kernel: refuse
    expect_status: 1
    buffers:
      - {name: y, role: out, dtype: f32, shape: [4]}
)");
    folder.Write("a.bin", std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8));
    folder.Write("b.bin", std::string("\x00\x00\x80\x3f\x01\x00\x00\x40", 8));
    folder.Write("short.bin", "abc");
  }
  std::string suite() const { return folder / "suite.yaml"; }
};

struct Row {
  std::vector<std::string> arguments;
  int status;
  std::string err;
};

TEST_F(CommandLineTest, WrongCommandLines) {
  const std::string a = folder / "a.bin";
  const std::string none = folder / "none";
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string cut = folder / "short.bin";
  const std::vector<Row> rows = {
      {{}, 64, "the verbs are run submit job artifact record matrix resource agent lock suite compare query server"},
      {{"frob"}, 64, "frob"},
      {{"--frobnicate"}, 64, "--frobnicate"},
      {{"job"}, 64, "the verbs are list show logs cancel retry wait explain; see `pyptox-ctl job --help`"},
      {{"resource"}, 64, "the verbs are list show history pause resume release drain quarantine block-device"},
      {{"resource", "pause", "dev"}, 64, "--reason"},
      {{"resource", "drain", "--reason", "x"}, 64, "NAME"},
      {{"resource", "resume", "dev", "--until", "x"}, 64, "--until"},
      {{"resource", "history", "--limit", "1001"}, 64, "--limit"},
      {{"job", "frob"}, 64, "frob"},
      {{"job", "show"}, 64, "JOB"},
      {{"job", "show", "x"}, 64, "see `pyptox-ctl job show --help`"},
      {{"job", "show", "x"}, 64, "JOB: 'x' is not a whole number from 0 to 18446744073709551615\n"},
      {{"job", "show", "18446744073709551616"},
       64,
       "JOB: '18446744073709551616' is not a whole number from 0 to 18446744073709551615\n"},
      {{"job", "show", "1.5"}, 64, "JOB: '1.5' is not a whole number from 0 to 18446744073709551615\n"},
      {{"job", "logs", "1", "--offset", "0x10"},
       64,
       "--offset: '0x10' is not a whole number from 0 to 18446744073709551615\n"},
      {{"job", "show", "-1"}, 64, ""},
      {{"job", "show", "1", "2"}, 64, "2"},
      {{"job", "show", "0x1"}, 64, "JOB: '0x1' is not a whole number from 0 to 18446744073709551615"},
      {{"job", "cancel", "1", "010"}, 64, "JOB: '010' is not a whole number"},
      {{"job", "wait", "18446744073709551616"}, 64, "'18446744073709551616' is not a whole number"},
      {{"job", "logs", "1", "--offset", "1e3"}, 64, "--offset: '1e3'"},
      {{"job", "list", "--limit", "0x10"}, 64, "--limit: '0x10' is not a whole number from 1 to 1000"},
      {{"record", "show", ""}, 64, "RECORD: ''"},
      {{"artifact", "list", "1_0"}, 64, "JOB: '1_0'"},
      {{"submit", "--priority", "-010", suite()}, 64, "--priority: '-010' is not a whole number from -100 to 100"},
      {{"--controller", "", "job", "list"}, 64, "--controller: controller's address ''"},
      {{"job", "list", "--controller=127.0.0.1:99999"}, 64, "with a port of 1 to 65535"},
      {{"--controller", "unix:", "job", "list"}, 64, "neither unix:PATH nor HOST:PORT"},
      {{"query", "select '\xff'"}, 64, "sql is not UTF-8"},
      {{"artifact", "get", "1", "x", "--controller", "nowhere"}, 64, "'nowhere'"},
      {{"job", "cancel"}, 64, "JOB"},
      {{"job", "list", "--limit", "0"}, 64, "--limit"},
      {{"job", "list", "--limit", "1001"}, 64, "--limit"},
      {{"submit"}, 64, "SUITE"},
      {{"submit", "a", "b"}, 64, "b"},
      {{"submit", "--frobnicate", "a"}, 64, "--frobnicate"},
      {{"submit", "--priority", "101", suite()}, 64, "--priority"},
      {{"submit", "--priority", "-101", suite()}, 64, "--priority"},
      {{"submit", "--max-attempts", "11", suite()}, 64, "--max-attempts"},
      {{"submit", "--lane", "cuda@nowhere", suite()},
       64,
       "--lane cuda@nowhere: the suite has no such lane; it has cpu-scalar@dev"},
      {{"submit", "--case", "matmul-*", suite()}, 64, "matmul-*"},
      {{"submit", "--case", "matmul-*", suite()}, 64, "it has refused"},
      {{"submit", none}, 65, none},
      {{"run", "--controller", "unix:/x", suite()}, 64, "submit --wait"},
      {{"run", "--lane", "x@y", suite()}, 64, "it has cpu-scalar@dev"},
      {{"run", none}, 65, none},
      {{"suite", "check", none}, 65, none},
      {{"suite", "pin", none}, 65, none},
      {{"suite", "pin", suite()}, 65, "golden_lock"},
      {{"compare", a, a}, 64, "--dtype"},
      {{"compare", a, a, "--dtype", "f31"}, 64, "f32 f64"},
      {{"compare", a, a, "--dtype", "f32", "--shape", "2x"}, 64, "2x"},
      {{"compare", a, a, "--dtype", "f32", "--shape", "2,1"}, 64, "2,1"},
      {{"compare", a, a, "--dtype", "f32", "--shape", "-2"}, 64, ""},
      {{"compare", a, a, "--dtype", "f32", "--shape", "4294967296x4294967296"}, 64, "more bytes"},
      {{"compare", a, a, "--dtype", "f32", "--shape", "3"}, 65, "needs 12"},
      {{"compare", a, none, "--dtype", "f32"}, 74, none},
      {{"compare", a, "/dev/null", "--dtype", "f32"}, 65, "not a regular file"},
      {{"compare", a, fifo, "--dtype", "f32"}, 65, "not a regular file"},
      {{"compare", cut, cut, "--dtype", "f32"}, 65, "has 3 bytes, no whole number of f32"},
      {{"record", "export", "--dir", none}, 64, "--all"},
      {{"record", "export", "1", "--all", "--dir", none}, 64, "--all"},
      {{"record", "verify", "--checkpoint", "x", a}, 64, "COUNT:SHA256"},
      {{"record", "verify", none}, 74, none},
      {{"record", "verify", a}, 65, a},
      {{"query"}, 64, "SQL"},
      {{"--output", "xml", "job", "list"}, 64, "--output"},
      {{"job", "list", "--output", "xml"}, 64, "--output"},
  };
  for (const Row& row : rows) {
    const ProgramResult result = Run(row.arguments);
    std::string line;
    for (const std::string& argument : row.arguments) line += " " + argument;
    EXPECT_EQ(result.status, row.status) << line << "\n" << result.err;
    EXPECT_THAT(result.err, HasSubstr(row.err)) << line;
    EXPECT_THAT(result.err, HasSubstr("pyptox-ctl: ")) << line;
    EXPECT_EQ(result.out, "") << line;
  }
}

TEST_F(CommandLineTest, NoControllerIsOneLineAnd69) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"job", "list"},
                                             {"job", "show", "1"},
                                             {"job", "logs", "--follow", "1"},
                                             {"job", "cancel", "1"},
                                             {"job", "wait", "1"},
                                             {"job", "explain", "1"},
                                             {"job", "retry", "1"},
                                             {"artifact", "list", "1"},
                                             {"artifact", "get", "1", "x"},
                                             {"record", "list"},
                                             {"record", "show", "1"},
                                             {"record", "export", "1", "--dir", folder.path()},
                                             {"record", "verify"},
                                             {"matrix", "show"},
                                             {"matrix", "summary"},
                                             {"resource", "list"},
                                             {"resource", "show", "dev"},
                                             {"agent", "list"},
                                             {"resource", "history"},
                                             {"resource", "pause", "dev", "--reason", "x"},
                                             {"resource", "resume", "dev"},
                                             {"lock", "list"},
                                             {"query", "select 1"},
                                             {"server", "info"}}) {
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.status, 69) << arguments[0];
    EXPECT_THAT(result.err, HasSubstr("no controller answers at unix:" + folder.path())) << arguments[0];
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(CommandLineTest, OnlyTheDefaultAddressSaysHowRecordsOfRunAreServed) {
  const std::string hint =
      "`pyptox-controller --data " + (folder / "data") + "/controller` serves what `run` recorded\n";
  EXPECT_THAT(Run({"matrix", "show"}).err, HasSubstr(hint));
  EXPECT_THAT(Run({"matrix", "show", "--controller", "unix:/none"}).err, Not(HasSubstr("pyptox-controller")));
}

TEST_F(CommandLineTest, ServerInfoSaysWhoNamedTheAddress) {
  EXPECT_THAT(Run({"server", "info"}).err, HasSubstr("(address from default)"));
  EXPECT_THAT(Run({"server", "info", "--controller", "unix:/none"}).err, HasSubstr("(address from --controller)"));
  folder.Write("config.yaml", "controller: unix:/none\n");
  EXPECT_THAT(Run({"server", "info"}).err, HasSubstr("(address from " + (folder / "config.yaml") + ")"));
  folder.Write("config.yaml", "port: 1\n");
  EXPECT_EQ(Run({"server", "info"}).status, 65);
}

TEST_F(CommandLineTest, HelpAndVersionAreNoErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--help"}, {"--version"}, {"submit", "--help"}, {"job", "--help"}}) {
    const ProgramResult result = Run(arguments);
    EXPECT_EQ(result.status, 0);
    EXPECT_NE(result.out, "");
    EXPECT_EQ(result.err, "");
  }
  EXPECT_THAT(Run({"--help"}).out, HasSubstr("75 busy"));
}

TEST_F(CommandLineTest, HostileArgumentsAreShownHarmless) {
  const ProgramResult result = Run({"\x1b[2J\nx"});
  EXPECT_EQ(result.status, 64);
  EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(result.err, HasSubstr("\\x1b[2J"));
}

TEST_F(CommandLineTest, SuiteCheck) {
  const ProgramResult result = Run({"suite", "check", suite()});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            "SUITE  CONTRACT  LANES  CASES  SOURCES\n"
            "small  small 1   1      1      1 files\n");
  const auto json = nlohmann::json::parse(Run({"suite", "check", suite(), "--output", "json"}).out);
  EXPECT_EQ(json, nlohmann::json::parse(
                      R"({"schema_version": 1, "suite": {"name": "small", "lanes": 1, "cases": 1, "sources": 1}})"));
  EXPECT_EQ(Run({"--output", "quiet", "suite", "check", suite()}).out, "");
}

TEST_F(CommandLineTest, CompareEqual) {
  const ProgramResult result = Run({"compare", folder / "a.bin", folder / "a.bin", "--dtype", "f32", "--shape", "1x2"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "equal: 2 elements, 8 bytes\n");
}

TEST_F(CommandLineTest, CompareDifferent) {
  const ProgramResult result = Run({"compare", folder / "a.bin", folder / "b.bin", "--dtype", "f32", "--shape", "1x2"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out,
            "1 of 2 elements differ (50.0000 %), max ULP 1, NaN with other bits 0, NaN on one side 0, sign of zero 0\n"
            "       INDEX  AT   A HEX       B HEX       A  B          ULP\n"
            "first  1      0,1  0x40000000  0x40000001  2  2.0000002  1\n"
            "worst  1      0,1  0x40000000  0x40000001  2  2.0000002  1\n");
  const auto json = nlohmann::json::parse(
      Run({"--output", "json", "compare", folder / "a.bin", folder / "b.bin", "--dtype", "f32"}).out)["comparison"];
  EXPECT_EQ(json["different"], 1);
  EXPECT_EQ(json["first"]["a_hex"], "0x40000000");
  EXPECT_EQ(json["worst"].size(), 1u);
  EXPECT_EQ(json["worst"][0]["ulp"], 1);
}

TEST_F(CommandLineTest, CompareLengths) {
  const ProgramResult result = Run({"compare", folder / "a.bin", folder / "short.bin", "--dtype", "u8"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("8 and 3 bytes"));
}

TEST_F(CommandLineTest, AResultThatCannotBeWrittenIsAnError) {
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  const int full = open("/dev/full", O_WRONLY);
  dup2(full, STDOUT_FILENO);
  Session session(Surroundings{"", folder / "config.yaml", folder / "data"}, folder.path());
  testing::internal::CaptureStderr();
  const int status = RunProgram({"suite", "check", suite()}, session);
  const std::string err = testing::internal::GetCapturedStderr();
  dup2(before, STDOUT_FILENO);
  close(before);
  close(full);
  std::clearerr(stdout);
  EXPECT_EQ(status, 74);
  EXPECT_THAT(err, HasSubstr("standard output: No space left on device"));
}

TEST(WorseOfTest, WorstWins) {
  const std::vector<ExitCode> order = {kExitInternal, kExitBusy, kExitVerdictFail, kExitBlocked, kExitPass};
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t k = i; k < order.size(); ++k) {
      EXPECT_EQ(WorseOf(order[i], order[k]), order[i]);
      EXPECT_EQ(WorseOf(order[k], order[i]), order[i]);
    }
  }
}

}  // namespace
}  // namespace pyptox::ctl
