// Starts pyptox-runner as the agent does: a program with leading arguments, a manifest, a result.
#ifndef PYPTOX_TESTS_SUPPORT_RUNNER_PROCESS_H_
#define PYPTOX_TESTS_SUPPORT_RUNNER_PROCESS_H_

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/temp_folder.h"

namespace pyptox {

// How a runner ended, and what it wrote; `result` is null without a result file.
struct RunnerEnd {
  // -1 for an end by signal.
  int exit_code = -1;
  long max_rss_kib = 0;
  nlohmann::json result;

  std::string Outcome() const { return result.is_object() ? result.value("outcome", "") : "no result"; }
  std::string Reason() const { return result.is_object() ? result.value("reason", "") : ""; }
};

// Runs `argv` and waits. `address_space` > 0 limits it, in bytes.
inline RunnerEnd RunProgram(const std::vector<std::string>& argv,
                            const std::vector<std::pair<std::string, std::string>>& env = {},
                            uint64_t address_space = 0) {
  RunnerEnd end;
  std::vector<char*> pointers;
  for (const std::string& argument : argv) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    for (const auto& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
    const rlimit limit = {address_space, address_space};
    if (address_space != 0) setrlimit(RLIMIT_AS, &limit);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (wait4(pid, &status, 0, &usage) == pid && WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  end.max_rss_kib = usage.ru_maxrss;
  return end;
}

// Writes `manifest` into `folder`, appends MANIFEST and RESULT to `argv`, runs it, and reads the result.
inline RunnerEnd RunRunner(std::vector<std::string> argv, const nlohmann::json& manifest, const TempFolder& folder,
                           const std::vector<std::pair<std::string, std::string>>& env = {},
                           uint64_t address_space = 0) {
  folder.Write("manifest.json", manifest.dump());
  argv.insert(argv.end(), {folder / "manifest.json", folder / "result.json"});
  RunnerEnd end = RunProgram(argv, env, address_space);
  end.result = nlohmann::json::parse(folder.Read("result.json"), nullptr, false);
  if (end.result.is_discarded()) end.result = nullptr;
  return end;
}

}  // namespace pyptox

#endif  // PYPTOX_TESTS_SUPPORT_RUNNER_PROCESS_H_
