// What `submit` and `run` share: a suite file becomes jobs.
#ifndef PYPTOX_CTL_COMMANDS_SUBMISSION_H_
#define PYPTOX_CTL_COMMANDS_SUBMISSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ctl/commands/session.h"
#include "ctl/suite/suite_file.h"
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

// Everything that a submission needs, before a controller is asked.
struct PreparedSubmission {
  v1::SubmitRequest request;
  SuiteFile loaded;
};

// Loads and checks the suite and captures its source. Not OK after Fail. Without an idempotency key it makes one, so
// that a request whose answer is lost can be sent again.
absl::StatusOr<PreparedSubmission> Prepare(Session& session, const SubmitOptions& options);

// Uploads what is missing and submits. Empty after Fail.
std::vector<v1::Job> Submit(Session& session, const PreparedSubmission& prepared);

}  // namespace pyptox::ctl

#endif  // PYPTOX_CTL_COMMANDS_SUBMISSION_H_
