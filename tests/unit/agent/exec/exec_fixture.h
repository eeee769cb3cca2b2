// A scratch folder and a shell step in it.
#ifndef PYPTOX_TESTS_UNIT_AGENT_EXEC_EXEC_FIXTURE_H_
#define PYPTOX_TESTS_UNIT_AGENT_EXEC_EXEC_FIXTURE_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "agent/exec/run_process.h"
#include "base/file_io.h"

namespace pyptox::agent {

class ExecFixture : public ::testing::Test {
 protected:
  ExecFixture() {
    std::string name = ::testing::TempDir() + "pyptox-exec-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) abort();
    folder_ = name;
  }
  ~ExecFixture() override { EXPECT_TRUE(RemoveTree(folder_).ok()); }

  ProcessSpec Shell(const std::string& script, TreeMode mode = TreeMode::kTraced) const {
    ProcessSpec spec;
    spec.program = "/bin/sh";
    spec.argv = {"sh", "-c", script};
    spec.env = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8"};
    spec.cwd = folder_;
    spec.run_limit = Seconds(60);
    spec.mode = mode;
    return spec;
  }

  // Runs it and collects its output.
  absl::StatusOr<ProcessOutcome> Run(const ProcessSpec& spec, const StopSignal* stop = nullptr) {
    output_.clear();
    return RunProcess(spec, &digests_, stop, [this](std::string_view piece) { output_ += piece; });
  }

  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder_ + "/" + name) << text; }

  // Numbers in a file, one a line.
  std::vector<pid_t> Pids(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    std::vector<pid_t> pids;
    pid_t pid = 0;
    while (file >> pid) pids.push_back(pid);
    return pids;
  }

  // Whether a process of this id can still do anything: a zombie can't.
  static bool IsAlive(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(file, text)) return false;
    const size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text[name_end + 2] != 'Z' && text[name_end + 2] != 'X';
  }

  std::string folder_;
  std::string output_;
  FileDigests digests_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_TESTS_UNIT_AGENT_EXEC_EXEC_FIXTURE_H_
