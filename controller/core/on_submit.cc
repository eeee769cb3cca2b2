#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "base/message_json.h"
#include "base/sha256.h"
#include "controller/core/handlers.h"
#include "controller/core/new_job.h"
#include "controller/core/scheduling.h"
#include "matrix/suite_check.h"
#include "matrix/tree_digest.h"

namespace pyptox::controller {
namespace {

constexpr uint32_t kDefaultAttempts = 3;
constexpr uint32_t kMostAttempts = 10;
constexpr size_t kLongestKey = 255;

absl::Status CheckBounds(const State& state, const v1::SubmitRequest& request, size_t new_jobs) {
  if (request.priority() < locks::kMinPriority || request.priority() > locks::kMaxPriority) {
    return absl::InvalidArgumentError(
        fmt::format("priority: {} is not in {}..{}", request.priority(), locks::kMinPriority, locks::kMaxPriority));
  }
  if (request.max_attempts() > kMostAttempts) {
    return absl::InvalidArgumentError(
        fmt::format("max_attempts: {}; at most {} are allowed", request.max_attempts(), kMostAttempts));
  }
  if (request.idempotency_key().size() > kLongestKey) {
    return absl::InvalidArgumentError(fmt::format("idempotency_key: {} bytes; at most {} are allowed",
                                                  request.idempotency_key().size(), kLongestKey));
  }
  if (state.active.size() + new_jobs > kMaxActiveJobs) {
    return absl::ResourceExhaustedError(
        fmt::format("{} jobs wait or run; at most {} may", state.active.size(), kMaxActiveJobs));
  }
  return absl::OkStatus();
}

// The wanted lanes in the order of the suite.
absl::StatusOr<std::vector<const v1::Lane*>> ChooseLanes(const v1::SubmitRequest& request) {
  std::vector<const v1::Lane*> chosen;
  const auto& wanted = request.lanes();
  for (const std::string& name : wanted) {
    if (!matrix::FindLane(request.suite(), name)) {
      return absl::InvalidArgumentError(fmt::format("lanes: suite {} has no lane {}", request.suite().name(), name));
    }
  }
  for (const v1::Lane& lane : request.suite().lanes()) {
    if (wanted.empty() || std::count(wanted.begin(), wanted.end(), lane.name()) > 0) chosen.push_back(&lane);
  }
  if (chosen.empty()) return absl::InvalidArgumentError("suite.lanes: there are none");
  return chosen;
}

// Of everything that decides what will run. Each string came over the wire, where protobuf demands UTF-8.
std::string RequestSha256(v1::SubmitRequest request) {
  request.clear_idempotency_key();
  request.clear_submitter();
  return Sha256Of(MessageToCanonicalJson(request).value()).Hex();
}

// The jobs that a key stands for must not answer for other code or other cases.
absl::Status CheckSame(const State& state, const v1::SubmitRequest& request, uint64_t submission_id) {
  const v1::Job& first = state.jobs.at(state.submissions.at(submission_id).front()).job;
  if (first.request_sha256() == RequestSha256(request)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("idempotency_key: `{}` is that of submission {} (job {}), which asked for something else",
                  request.idempotency_key(), submission_id, first.id()));
}

void Answer(Turn& turn, uint64_t request_id, uint64_t submission_id) {
  v1::SubmitResponse response;
  response.set_submission_id(submission_id);
  for (const uint64_t id : turn.state.submissions.at(submission_id)) *response.add_jobs() = turn.state.jobs.at(id).job;
  turn.effects.actions.push_back(Reply{request_id, absl::OkStatus(), std::move(response)});
}

absl::Status Handle(Turn& turn, const Submit& event) {
  const v1::SubmitRequest& request = event.request;
  if (const auto known = turn.state.idempotency.find(request.idempotency_key());
      known != turn.state.idempotency.end()) {
    if (auto status = CheckSame(turn.state, request, known->second); !status.ok()) return status;
    Answer(turn, event.request_id, known->second);
    return absl::OkStatus();
  }
  const auto lanes = ChooseLanes(request);
  if (!lanes.ok()) return lanes.status();
  if (auto status = CheckBounds(turn.state, request, lanes->size()); !status.ok()) return status;
  auto cases = matrix::PickCases(request.suite(), request.case_patterns());
  if (!cases.ok()) return cases.status();
  // All cases by name are not a part of them.
  if (cases->size() == static_cast<size_t>(request.suite().cases_size())) cases->clear();

  auto spec = std::make_shared<v1::JobSpec>();
  *spec->mutable_suite() = request.suite();
  *spec->mutable_source() = request.source();
  *spec->mutable_tree() = request.tree();
  *spec->mutable_cases() = {cases->begin(), cases->end()};
  spec->set_priority(request.priority());
  spec->set_max_attempts(request.max_attempts() == 0 ? kDefaultAttempts : request.max_attempts());

  const std::string suite_sha256 = matrix::SuiteSha256(spec->suite());
  const Submission submission{++turn.state.counters.submissions, std::move(spec), suite_sha256, event.submitter,
                              RequestSha256(request)};
  if (!request.idempotency_key().empty()) {
    turn.state.idempotency[request.idempotency_key()] = submission.id;
    turn.effects.writes.push_back(PutIdempotency{request.idempotency_key(), submission.id});
  }
  std::vector<uint64_t> jobs;
  for (const v1::Lane* lane : *lanes) jobs.push_back(AddJob(turn, submission, *lane));
  for (const uint64_t id : jobs) Consider(turn, id);
  Answer(turn, event.request_id, submission.id);
  return absl::OkStatus();
}

}  // namespace

void On(Turn& turn, const Submit& event) {
  if (auto status = Handle(turn, event); !status.ok()) {
    turn.effects.actions.push_back(Reply{event.request_id, std::move(status), {}});
  }
}

}  // namespace pyptox::controller
