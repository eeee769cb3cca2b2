// Outputs of the watchers' tools, from fixtures/ beside this file; fixtures/INDEX.md says where each layout was seen.
#ifndef PYPTOX_TESTS_UNIT_AGENT_WATCH_FIXTURE_H_
#define PYPTOX_TESTS_UNIT_AGENT_WATCH_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace pyptox::agent {

inline std::string FixturesFolder() {
  return std::string(getenv("PYPTOX_SOURCE_DIR")) + "/tests/unit/agent/watch/fixtures/";
}

inline std::string Fixture(const std::string& name) {
  std::ifstream in(FixturesFolder() + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace pyptox::agent

#endif  // PYPTOX_TESTS_UNIT_AGENT_WATCH_FIXTURE_H_
