#include "agent/steps/attempt_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file_io.h"
#include "matrix/verdict.h"

namespace pyptox::agent {
namespace {

// With less than this free, what failed has probably failed for it.
constexpr uint64_t kNoSpaceBytes = 16 << 20;

}  // namespace

void AttemptContext::Log(std::string_view bytes) {
  if (log_status.ok()) log_status = log->Append(bytes);
  news.log_grew(id(), log->size());
}

void AttemptContext::Note(std::string_view text) { Log(fmt::format("[pyptox: {}]\n", text)); }

void AttemptContext::Progress(std::string_view step, uint32_t cases_done, uint32_t cases_total) const {
  v1::Progress progress;
  progress.set_step(std::string(step));
  progress.set_cases_done(cases_done);
  progress.set_cases_total(cases_total);
  news.progressed(id(), std::move(progress));
}

void AttemptContext::NotCovered(std::string sentence) {
  const auto& known = evidence.not_covered();
  if (std::find(known.begin(), known.end(), sentence) == known.end()) evidence.add_not_covered(std::move(sentence));
}

std::optional<v1::Outcome> AttemptContext::Interrupted() const {
  if (stop.requested()) return matrix::MakeOutcome(v1::VERDICT_CANCELLED, "", "the attempt was cancelled");
  if (ReadClocks().mono >= deadline) {
    return matrix::MakeOutcome(v1::VERDICT_TIMEOUT, "run", "the attempt reached its limit `run_s`");
  }
  return std::nullopt;
}

v1::Outcome AttemptContext::Blame(v1::Outcome outcome) const {
  const absl::StatusOr<uint64_t> free = FreeBytes(folder.path());
  if (!log_status.ok()) return InfraOutcome("log", log_status);
  if (!free.ok() || *free >= kNoSpaceBytes) return outcome;
  return matrix::MakeOutcome(v1::VERDICT_INFRA, "disk_full",
                             fmt::format("{} bytes are free; before that: {}", *free, outcome.reason()));
}

v1::Outcome InfraOutcome(std::string_view kind, const absl::Status& status) {
  return matrix::MakeOutcome(v1::VERDICT_INFRA, absl::IsResourceExhausted(status) ? "disk_full" : kind,
                             std::string(status.message()));
}

}  // namespace pyptox::agent
