// The agent's own look at a case, after the runner's: a PASS never rests on one process's word. Pure.
#ifndef PYPTOX_AGENT_STEPS_CASE_JUDGE_H_
#define PYPTOX_AGENT_STEPS_CASE_JUDGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "pyptox/v1/launch.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// What the agent itself saw of one output with a golden.
struct OutputSight {
  std::string name;
  // SHA-256 of the output file and of the golden's bytes, each by the agent.
  std::string sha256;
  std::string golden_sha256;
  // One sentence when the output file could not be read.
  std::string fault;
};

struct CaseSight {
  // Launches that the manifest asked for.
  uint32_t repeat = 0;
  std::vector<OutputSight> outputs;
  // One sentence when a golden or input file is not what the sources declare.
  std::string source_fault;
  // One sentence when a golden is not pinned to its digest.
  std::string pin_fault;
};

// Takes the runner's result into `result` and sets its outcome and reason: the runner's, unless
//   - a source was changed: BAD_FILE;
//   - it says PASS and the agent's digests, or the number of launches, say otherwise: INFRA;
//   - it says PASS and a golden is not pinned: UNPINNED_GOLDEN.
// A result without an outcome, or with one that is the agent's own, is INFRA.
void JudgeCase(const v1::LaunchResult& launch, const CaseSight& sight, v1::CaseResult* result);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_CASE_JUDGE_H_
