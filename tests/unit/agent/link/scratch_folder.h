// A folder that goes with the test.
#ifndef PYPTOX_TESTS_UNIT_AGENT_LINK_SCRATCH_FOLDER_H_
#define PYPTOX_TESTS_UNIT_AGENT_LINK_SCRATCH_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

#include "base/file_io.h"

namespace pyptox::agent {

class ScratchFolder {
 public:
  ScratchFolder() : path_(::testing::TempDir() + "pyptox-link-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) abort();
  }
  ~ScratchFolder() { EXPECT_TRUE(RemoveTree(path_).ok()); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
  }
  std::string Read(const std::string& name) const { return ReadFile(path_ + "/" + name, 1 << 30).value_or("?"); }

 private:
  std::string path_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_TESTS_UNIT_AGENT_LINK_SCRATCH_FOLDER_H_
