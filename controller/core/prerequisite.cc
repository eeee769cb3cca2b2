#include "controller/core/prerequisite.h"

#include <fmt/format.h>

#include "matrix/verdict.h"

namespace pyptox::controller {
namespace {

// The job of the same submission on `lane`; nullptr without one.
const JobEntry* SiblingOn(const State& state, const JobEntry& entry, const std::string& lane) {
  for (const uint64_t id : state.submissions.at(entry.job.submission_id())) {
    const JobEntry& sibling = state.jobs.at(id);
    if (sibling.job.lane() == lane) return &sibling;
  }
  return nullptr;
}

// A job whose record will count for `key`; nullptr without one.
const JobEntry* AwaitedFor(const State& state, const JobEntry& entry, const ResultKey& key) {
  const auto pending = state.pending.find(key);
  if (pending == state.pending.end()) return nullptr;
  for (const uint64_t id : pending->second) {
    const JobEntry& other = state.jobs.at(id);
    if (id < entry.job.id() || other.job.submission_id() == entry.job.submission_id()) return &other;
  }
  return nullptr;
}

Prerequisite WaitsFor(const JobEntry& other) {
  const char* state = other.job.state() == v1::JOB_STATE_QUEUED ? "queued" : "running";
  return {Readiness::kWaits,
          fmt::format("waits for {} to PASS at this tree (job {} is {})", other.job.lane(), other.job.id(), state)};
}

Prerequisite FailedBy(const std::string& lane, const std::string& what, v1::Verdict verdict) {
  return {Readiness::kFailed, fmt::format("{} must PASS at this tree first; {} says {}", lane, what,
                                          matrix::OutcomeWord(matrix::MakeOutcome(verdict, "", "")))};
}

Prerequisite CheckLane(const State& state, const JobEntry& entry, const std::string& lane) {
  if (entry.job.partial()) {
    if (const JobEntry* sibling = SiblingOn(state, entry, lane)) {
      if (sibling->job.state() != v1::JOB_STATE_DONE) return WaitsFor(*sibling);
      const v1::Verdict verdict = sibling->job.outcome().verdict();
      if (verdict == v1::VERDICT_PASS) return {};
      return FailedBy(lane, fmt::format("job {}", sibling->job.id()), verdict);
    }
  }
  const ResultKey key = KeyOf(entry, lane);
  if (const JobEntry* awaited = AwaitedFor(state, entry, key)) return WaitsFor(*awaited);
  const auto result = state.results.find(key);
  if (result == state.results.end()) {
    return {Readiness::kFailed, fmt::format("{} must PASS at this tree first; it never ran there", lane)};
  }
  if (result->second.verdict == v1::VERDICT_PASS) return {};
  return FailedBy(lane, fmt::format("record {}", result->second.record_id), result->second.verdict);
}

}  // namespace

ResultKey KeyOf(const JobEntry& entry, const std::string& lane) {
  return {entry.job.suite(), entry.suite_sha256, lane, entry.job.tree_sha256()};
}

Prerequisite CheckPrerequisites(const State& state, const JobEntry& entry) {
  Prerequisite worst;
  for (const std::string& lane : entry.job.requires_pass()) {
    Prerequisite found = CheckLane(state, entry, lane);
    if (found.readiness > worst.readiness) worst = std::move(found);
  }
  return worst;
}

}  // namespace pyptox::controller
