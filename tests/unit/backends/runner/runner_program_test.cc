// pyptox-runner as a program: its command line, its exit statuses and what it costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/support/runner_process.h"
#include "tests/support/temp_folder.h"

namespace pyptox {
namespace {

using nlohmann::json;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Runner() { return Variable("PYPTOX_BIN_DIR") + "/pyptox-runner"; }

json AddOne(const TempFolder& folder, const std::string& input, uint64_t offset) {
  std::filesystem::create_directories(folder / "out");
  folder.Write("golden", std::string("\0\0\x80\x3f\0\0\x80\x3f", 8));
  return {{"case", "c"},
          {"module", Variable("PYPTOX_KERNEL_DIR") + "/sample_kernels.so"},
          {"symbol", "add_one"},
          {"repeat", 2},
          {"output_dir", folder / "out"},
          {"safetensors", true},
          {"buffers",
           {{{"name", "x"},
             {"role", "ROLE_IN"},
             {"dtype", "DTYPE_F32"},
             {"shape", {2}},
             {"file", {{"path", input}, {"offset", std::to_string(offset)}, {"packed", true}}}},
            {{"name", "y"},
             {"role", "ROLE_OUT"},
             {"dtype", "DTYPE_F32"},
             {"shape", {"2"}},
             {"golden", {{"path", folder / "golden"}}}}}}};
}

TEST(RunnerProgram, CommandLine) {
  EXPECT_EQ(RunProgram({Runner(), "--help"}).exit_code, 0);
  EXPECT_EQ(RunProgram({Runner(), "--version"}).exit_code, 0);
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{{Runner()},
                                                                                    {Runner(), "a"},
                                                                                    {Runner(), "--verbose"},
                                                                                    {Runner(), "-x", "b"},
                                                                                    {Runner(), "a", "b", "c"},
                                                                                    {Runner(), "--help", "x"}}) {
    EXPECT_EQ(RunProgram(argv).exit_code, 64) << argv.size();
  }
}

TEST(RunnerProgram, BadFilesHaveTheirExitStatus) {
  TempFolder folder;
  EXPECT_EQ(RunProgram({Runner(), folder / "nowhere", folder / "r"}).exit_code, 74);
  RunnerEnd end = RunRunner({Runner()}, {{"case", "c"}, {"surprise", 1}}, folder);
  EXPECT_EQ(end.exit_code, 65);
  EXPECT_EQ(end.result, nullptr);
  folder.Write("in", std::string(8, '\0'));
  json manifest = AddOne(folder, folder / "in", 0);
  manifest["output_dir"] = folder / "no_such_folder";
  EXPECT_EQ(RunRunner({Runner()}, manifest, folder).exit_code, 74);
  folder.Write("manifest", AddOne(folder, folder / "in", 0).dump());
  EXPECT_EQ(RunProgram({Runner(), folder / "manifest", folder / "no_such_folder/result"}).exit_code, 74);
}

// The inputs are the last bytes of a sparse file that is larger than the whole address space allowed here.
TEST(RunnerProgram, ASparseFileOfGigabytesIsNeverRead) {
  TempFolder folder;
  constexpr uint64_t kBytes = 1'574'877'952;
  folder.Write("packed", "");
  ASSERT_EQ(truncate((folder / "packed").c_str(), static_cast<off_t>(kBytes)), 0);
  uint64_t address_space = uint64_t{512} << 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  address_space = 0;  // A sanitizer maps terabytes.
#endif
  const RunnerEnd end = RunRunner({Runner()}, AddOne(folder, folder / "packed", kBytes - 8), folder, {}, address_space);
  ASSERT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_PASS") << end.Reason();
  EXPECT_TRUE(address_space == 0 || end.max_rss_kib < 64 << 10) << end.max_rss_kib;
  EXPECT_EQ(folder.Read("out/y.bin"), folder.Read("golden"));
  std::vector<std::string> written;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out")) {
    written.push_back(entry.path().filename());
  }
  EXPECT_THAT(written, testing::UnorderedElementsAre("outputs.safetensors", "y.bin"));
}

TEST(RunnerProgram, AnOutcomeThatIsNoPassIsStillExitZero) {
  TempFolder folder;
  folder.Write("in", std::string(8, '\0'));
  json manifest = AddOne(folder, folder / "in", 0);
  manifest["buffers"][1]["golden"]["path"] = folder / "in";
  const RunnerEnd end = RunRunner({Runner()}, manifest, folder);
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.Outcome(), "CASE_OUTCOME_MISMATCH");
  EXPECT_EQ(end.result["outputs"][0]["comparison"]["first"]["expected_hex"], "0x00000000");
  EXPECT_EQ(end.result["outputs"][0]["comparison"]["first"]["actual_hex"], "0x3f800000");
  EXPECT_EQ(end.result["outputs"][0]["comparison"]["first"]["multi_index"], json::array({"0"}));
}

// What `readelf -dVW` says of a program.
std::string LinkageOf(const std::string& program) {
  TempFolder folder;
  const std::string command = "readelf -dVW '" + program + "' > '" + (folder / "text") + "'";
  EXPECT_EQ(RunProgram({"sh", "-c", command}).exit_code, 0) << program;
  return folder.Read("text");
}

// A device host gets the runner alone, and may have a C library of 2021.
TEST(RunnerProgram, NeedsNothingButAnOldCLibrary) {
  if (Variable("PYPTOX_RUNNER_ARCHIVES") != "yes")
    GTEST_SKIP() << "linked with shared absl: no archives, or a sanitizer";
  for (const std::string& program : {Runner(), Variable("PYPTOX_BIN_DIR") + "/aarch64/pyptox-runner"}) {
    if (!std::filesystem::exists(program)) continue;
    std::istringstream text(LinkageOf(program));
    std::vector<std::string> needed;
    for (std::string line; std::getline(text, line);) {
      if (line.find("(NEEDED)") != std::string::npos) needed.push_back(line.substr(line.find('[')));
      const size_t at = line.find("GLIBC_2.");
      const int minor = at == std::string::npos ? 0 : std::stoi(line.substr(at + 8));
      EXPECT_LE(minor, 34) << program << ": " << line;
    }
    EXPECT_THAT(needed, testing::Not(testing::IsEmpty()));
    EXPECT_THAT(needed, testing::Each(testing::AnyOf("[libc.so.6]", "[libm.so.6]", "[libgcc_s.so.1]",
                                                     testing::StartsWith("[ld-linux"))));
  }
}

}  // namespace
}  // namespace pyptox
