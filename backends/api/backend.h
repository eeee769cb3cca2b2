// How a kind of resource runs a kernel. A backend is pure: it looks at facts and answers with a command line; the agent
// starts it. No vendor runtime is ever loaded into the agent.
#ifndef PYPTOX_BACKENDS_API_BACKEND_H_
#define PYPTOX_BACKENDS_API_BACKEND_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/api/target.h"
#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::backends {

// Facts by key, as agent/probe names them.
using FactMap = std::map<std::string, std::string, std::less<>>;

struct PlanRequest {
  const TargetInfo* target = nullptr;
  const FactMap* facts = nullptr;
  // The lane's kernel step; null for a lane that runs a program, whose step is then `run`.
  const v1::KernelStep* kernel = nullptr;
  const v1::RunStep* run = nullptr;
  // Folder with `pyptox-runner` and `aarch64/pyptox-runner`.
  std::string runner_dir;
};

// Whether the target can run on this resource, and how.
struct Plan {
  // Set: it can't, and this is the attempt's outcome (BLOCKED_DEVICE, or NO_VERDICT(suite) for a step that makes no
  // sense here). The rest is then empty but for the evidence class.
  std::optional<v1::Outcome> refused;
  v1::EvidenceClass evidence_class = v1::EVIDENCE_CLASS_UNSPECIFIED;
  // Program and leading arguments of a launch; MANIFEST and RESULT are appended.
  std::vector<std::string> runner_argv;
  // Environment of a launch.
  std::vector<std::pair<std::string, std::string>> env;
  // What a PASS here does not say, one sentence each.
  std::vector<std::string> not_covered;
};

class Backend {
 public:
  virtual ~Backend() = default;
  // As the agent's configuration writes it: `cpu`.
  virtual std::string_view name() const = 0;
  // Thread safe and without effects.
  virtual Plan MakePlan(const PlanRequest& request) const = 0;
};

// Shared by backends: value of a fact, empty when it was not observed or is `unknown` or `absent`.
std::string FactOr(const FactMap& facts, std::string_view key);
v1::Outcome MakeOutcome(v1::Verdict verdict, std::string_view kind, std::string reason);

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_API_BACKEND_H_
