// Turns what was seen into one outcome. Pure; the order of its rules is the order of blame.
#ifndef PYPTOX_BACKENDS_RUNNER_JUDGE_H_
#define PYPTOX_BACKENDS_RUNNER_JUDGE_H_

#include <string>
#include <string_view>

#include "backends/runner/manifest.h"
#include "backends/runner/observation.h"

namespace pyptox::runner {

struct Judgement {
  // Name of a pyptox.v1.CaseOutcome without its prefix, e.g. `PASS`, `OUT_OF_BOUNDS`.
  std::string_view outcome;
  // One sentence; empty on PASS.
  std::string reason;
};

Judgement Judge(const Manifest& manifest, const Observation& seen);

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_JUDGE_H_
