#include "matrix/admission.h"

#include <fmt/format.h>

#include "matrix/verdict.h"

namespace pyptox::matrix {

uint32_t PlannedCases(const v1::Suite& suite, const v1::Lane& lane) {
  if (!lane.has_run()) return suite.planned();
  return lane.run().report().planned() + static_cast<uint32_t>(lane.run().compare_size());
}

std::string NotAdmitted(const v1::Record& record) {
  if (record.partial()) return "partial";
  if (record.source().head().empty()) return "no repository";
  if (record.source().dirty()) return "dirty tree";
  for (const v1::StepResult& step : record.evidence().steps()) {
    for (const v1::OpenedFile& file : step.opened()) {
      if (file.outside()) return fmt::format("opened a file outside the declared tree: {}", file.path());
    }
  }
  return "";
}

v1::Outcome AdmittedOutcome(const v1::Evidence& evidence, uint32_t planned) {
  const v1::Outcome& said = evidence.outcome();
  switch (said.verdict()) {
    case v1::VERDICT_PASS:
      // OutcomeOfCases is PASS only if every planned case is there and none is bad.
      return OutcomeOfCases(evidence.cases(), planned);
    case v1::VERDICT_UNSPECIFIED:
    case v1::VERDICT_LOST:
      return MakeOutcome(
          v1::VERDICT_INFRA, "outcome",
          fmt::format("the agent's verdict {} is not an agent's to give", v1::Verdict_Name(said.verdict())));
    default:
      return said;
  }
}

}  // namespace pyptox::matrix
