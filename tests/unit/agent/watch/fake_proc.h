// A /proc made of files.
#ifndef PYPTOX_TESTS_UNIT_AGENT_WATCH_FAKE_PROC_H_
#define PYPTOX_TESTS_UNIT_AGENT_WATCH_FAKE_PROC_H_

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace pyptox::agent {

struct FakeProcess {
  uint64_t pid = 0;
  uint64_t parent = 1;
  uint64_t own_ticks = 0;
  uint64_t child_ticks = 0;
  char state = 'S';
};

class FakeProc {
 public:
  const std::string& path() const { return folder_.path(); }
  void Write(const std::string& name, const std::string& text) const { folder_.Write(name, text); }

  // One process with one thread; `children` as the kernel lists them, left out where it does not.
  void Add(const FakeProcess& process, const std::string* children = nullptr) const {
    const std::string stat =
        fmt::format("{} (a b) {} {} 1 1 0 -1 4194304 93 0 0 0 {} 0 {} 0 20 0 1 0 {} 2920448 201\n", process.pid,
                    process.state, process.parent, process.own_ticks, process.child_ticks, process.pid + 100);
    Write(fmt::format("{}/stat", process.pid), stat);
    Write(fmt::format("{}/task/{}/stat", process.pid, process.pid), stat);
    if (children != nullptr) Write(fmt::format("{}/task/{}/children", process.pid, process.pid), *children);
  }
  void Remove(uint64_t pid) const { std::filesystem::remove_all(path() + "/" + std::to_string(pid)); }

  // A bare Linux host outside a container.
  void MakeBareHost(const std::string& release = "6.1.0-18-amd64", const std::string& ns = "pid:[4026531836]") const {
    Write("sys/kernel/osrelease", release + "\n");
    std::filesystem::create_directories(path() + "/self/ns");
    std::filesystem::remove(path() + "/self/ns/pid");
    std::filesystem::create_symlink(ns, path() + "/self/ns/pid");
  }

 private:
  TempFolder folder_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_TESTS_UNIT_AGENT_WATCH_FAKE_PROC_H_
