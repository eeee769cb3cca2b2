#include "ctl/commands/submission.h"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "ctl/suite/source_state.h"
#include "ctl/suite/suite_file.h"
#include "matrix/suite_check.h"

namespace pyptox::ctl {
namespace {

std::string UserName() {
  const passwd* user = getpwuid(getuid());
  return user == nullptr ? fmt::format("uid {}", getuid()) : user->pw_name;
}

// False after Fail.
bool CheckNames(Session& session, const SubmitOptions& options, const v1::SubmitRequest& request) {
  for (const std::string& lane : options.lanes) {
    if (matrix::FindLane(request.suite(), lane) != nullptr) continue;
    std::string known;
    for (const v1::Lane& one : request.suite().lanes()) known += " " + one.name();
    session.Fail(kExitUsage, fmt::format("--lane {}: the suite has no such lane; it has{}", lane, known));
    return false;
  }
  const absl::Status picked = matrix::PickCases(request.suite(), request.case_patterns()).status();
  if (!picked.ok()) session.Fail(kExitUsage, fmt::format("--case: {}", std::string(picked.message())));
  return picked.ok();
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
      ->check(CLI::Range(-100, 100));
  command.add_option("--max-attempts", options.max_attempts, "Attempts at most after INFRA, 1 to 10 (default 3)")
      ->check(CLI::Range(1, 10));
  command.add_option("--idempotency-key", options.idempotency_key,
                     "A second submit with this key gives the first one's jobs");
}

std::vector<v1::Job> Submit(Session& session, const SubmitOptions& options) {
  SuiteFile loaded = LoadSuite(options.suite_file);
  if (!loaded.faults.empty()) {
    std::string text;
    for (const TextFault& fault : loaded.faults) text += (text.empty() ? "" : "\n") + fault.ToString();
    session.Fail(kExitData, text);
    return {};
  }
  v1::SubmitRequest request;
  *request.mutable_suite() = loaded.suite;
  request.mutable_lanes()->Assign(options.lanes.begin(), options.lanes.end());
  request.mutable_case_patterns()->Assign(options.cases.begin(), options.cases.end());
  *request.mutable_tree() = loaded.tree;
  request.set_priority(options.priority);
  request.set_max_attempts(options.max_attempts);
  request.set_idempotency_key(options.idempotency_key);
  request.set_submitter(UserName());
  if (!CheckNames(session, options, request)) return {};
  absl::StatusOr<v1::SourceState> source = CaptureSource(loaded.folder, loaded.tree);
  if (ValueOrFail(session, source) == nullptr) return {};
  *request.mutable_source() = *source;

  absl::StatusOr<Client*> client = session.client();
  if (ValueOrFail(session, client) == nullptr) return {};
  if (absl::Status status = (*client)->UploadMissing(loaded.tree, loaded.paths); !status.ok()) {
    session.Fail(status);
    return {};
  }
  absl::StatusOr<v1::SubmitResponse> response = (*client)->Submit(request);
  if (ValueOrFail(session, response) == nullptr) return {};
  return {response->jobs().begin(), response->jobs().end()};
}

}  // namespace pyptox::ctl
