#include "backends/api/backend.h"

namespace pyptox::backends {

std::string FactOr(const FactMap& facts, std::string_view key) {
  const auto at = facts.find(key);
  if (at == facts.end() || at->second == "unknown" || at->second == "absent") return "";
  return at->second;
}

v1::Outcome MakeOutcome(v1::Verdict verdict, std::string_view kind, std::string reason) {
  v1::Outcome outcome;
  outcome.set_verdict(verdict);
  outcome.set_kind(std::string(kind));
  outcome.set_reason(std::move(reason));
  return outcome;
}

}  // namespace pyptox::backends
