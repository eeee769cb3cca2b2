#include "ctl/commands/submission.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

#include "ctl/commands/commands.h"
#include "ctl/suite/source_files.h"
#include "ctl/suite/source_state.h"
#include "matrix/suite_check.h"

namespace pyptox::ctl {
namespace {

std::string RandomKey() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) return "";
  std::string key = "pyptox-ctl-";
  for (const unsigned char byte : bytes) key += fmt::format("{:02x}", byte);
  return key;
}

// What the flags name has to be in the suite.
absl::Status CheckNames(const SubmitOptions& options, const v1::Suite& suite) {
  for (const std::string& lane : options.lanes) {
    if (matrix::FindLane(suite, lane) != nullptr) continue;
    std::string known;
    for (const v1::Lane& one : suite.lanes()) known += " " + one.name();
    return absl::NotFoundError(fmt::format("--lane {}: the suite has no such lane; it has{}", lane, known));
  }
  const google::protobuf::RepeatedPtrField<std::string> patterns(options.cases.begin(), options.cases.end());
  const absl::Status picked = matrix::PickCases(suite, patterns).status();
  if (picked.ok()) return picked;
  constexpr int kShown = 10;
  std::string known;
  for (int i = 0; i < std::min(kShown, suite.cases_size()); ++i) known += " " + suite.cases(i).name();
  if (suite.cases_size() > kShown) known += fmt::format(" and {} more", suite.cases_size() - kShown);
  return absl::NotFoundError(fmt::format("--case: {}; it has{}", std::string(picked.message()), known));
}

}  // namespace

void AddSubmitOptions(CLI::App& command, SubmitOptions& options) {
  command.add_option("SUITE", options.suite_file, "Suite file (YAML or JSON)")->required();
  command.add_option("--lane", options.lanes, "Only this lane; may be given several times (default: all)")
      ->allow_extra_args(false);
  command
      .add_option("--case", options.cases,
                  "Only cases of this name or glob; may be given several times. The result is then partial")
      ->allow_extra_args(false);
  command.add_option("--priority", options.priority, "Higher runs first, -100 to 100 (default 0)")
      ->check(WholeNumber(-100, 100));
  command.add_option("--max-attempts", options.max_attempts, "Attempts at most after INFRA, 1 to 10 (default 3)")
      ->check(WholeNumber(1, 10));
  command.add_option("--idempotency-key", options.idempotency_key,
                     "A second submit with this key gives the first one's jobs");
}

absl::StatusOr<PreparedSubmission> Prepare(Session& session, const SubmitOptions& options) {
  PreparedSubmission prepared;
  prepared.loaded = LoadSuite(options.suite_file);
  const SuiteFile& loaded = prepared.loaded;
  absl::Status status;
  if (!loaded.faults.empty()) {
    status = absl::InvalidArgumentError(Lines(loaded.faults));
  } else {
    status = CheckNames(options, loaded.suite);
  }
  if (!status.ok()) {
    session.Fail(status);
    return status;
  }
  for (const TextFault& fault : loaded.pin_faults) session.Note(fault.ToString());
  absl::StatusOr<CapturedSource> source = CaptureSource(loaded.folder, loaded.tree, loaded.files);
  status = source.status();
  if (status.ok()) status = CheckUnchanged(loaded.stamps);
  if (!status.ok()) {
    session.Fail(status);
    return status;
  }
  if (!source->fault.empty()) {
    session.Note(fmt::format("the sources are no clean commit, the matrix will not show this run: {}", source->fault));
  }
  v1::SubmitRequest& request = prepared.request;
  *request.mutable_suite() = loaded.suite;
  request.mutable_lanes()->Assign(options.lanes.begin(), options.lanes.end());
  request.mutable_case_patterns()->Assign(options.cases.begin(), options.cases.end());
  *request.mutable_source() = source->state;
  *request.mutable_tree() = loaded.tree;
  request.set_priority(options.priority);
  request.set_max_attempts(options.max_attempts);
  request.set_idempotency_key(options.idempotency_key.empty() ? RandomKey() : options.idempotency_key);
  request.set_submitter(UserName());
  return prepared;
}

std::vector<v1::Job> Submit(Session& session, const PreparedSubmission& prepared) {
  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return {};
  absl::Status status = (*client)->UploadMissing(prepared.loaded.tree, prepared.loaded.paths);
  if (status.ok()) status = CheckUnchanged(prepared.loaded.stamps);
  if (!status.ok()) {
    session.Fail(status);
    return {};
  }
  absl::StatusOr<v1::SubmitResponse> response = (*client)->Submit(prepared.request);
  if (ValueOrFail(session, response) == nullptr) return {};
  return {response->jobs().begin(), response->jobs().end()};
}

}  // namespace pyptox::ctl
