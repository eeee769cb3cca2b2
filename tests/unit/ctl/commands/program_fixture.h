// The program in this process: arguments in, exit status and both outputs back.
#ifndef PYPTOX_TESTS_UNIT_CTL_COMMANDS_PROGRAM_FIXTURE_H_
#define PYPTOX_TESTS_UNIT_CTL_COMMANDS_PROGRAM_FIXTURE_H_

#include <string>
#include <vector>

#include "ctl/commands/program.h"
#include "gtest/gtest.h"
#include "tests/support/temp_folder.h"

namespace pyptox::ctl {

struct ProgramResult {
  int status = 0;
  std::string out;
  std::string err;
};

// Without a controller: the default address is a socket that nobody listens on.
class ProgramTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::vector<std::string>& arguments) const {
    Surroundings surroundings;
    surroundings.config_file = folder / "config.yaml";
    surroundings.data_folder = folder / "data";
    surroundings.runtime_folder = folder.path();
    Session session(surroundings, folder / "bin");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    ProgramResult result;
    result.status = RunProgram(arguments, session);
    result.out = testing::internal::GetCapturedStdout();
    result.err = testing::internal::GetCapturedStderr();
    return result;
  }

  TempFolder folder;
};

}  // namespace pyptox::ctl

#endif  // PYPTOX_TESTS_UNIT_CTL_COMMANDS_PROGRAM_FIXTURE_H_
