// What `submit` and `run` share: a suite file becomes jobs.
#ifndef PYPTOX_CTL_COMMANDS_SUBMISSION_H_
#define PYPTOX_CTL_COMMANDS_SUBMISSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ctl/commands/session.h"
#include "pyptox/v1/job.pb.h"

namespace pyptox::ctl {

struct SubmitOptions {
  std::string suite_file;
  std::vector<std::string> lanes;
  std::vector<std::string> cases;
  int priority = 0;
  uint32_t max_attempts = 0;
  std::string idempotency_key;
};

// Adds --lane, --case, --priority, --max-attempts, --idempotency-key and the suite file.
void AddSubmitOptions(CLI::App& command, SubmitOptions& options);

// Loads, checks, captures the source, uploads what is missing, submits. Empty after Fail.
std::vector<v1::Job> Submit(Session& session, const SubmitOptions& options);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_SUBMISSION_H_
