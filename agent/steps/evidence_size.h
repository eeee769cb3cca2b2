// Keeps evidence small enough to travel in one message and to stand in one record. Pure.
#ifndef PYPTOX_AGENT_STEPS_EVIDENCE_SIZE_H_
#define PYPTOX_AGENT_STEPS_EVIDENCE_SIZE_H_

#include <cstddef>

#include "pyptox/v1/record.pb.h"

namespace pyptox::agent {

// Of the evidence's canonical JSON, which is larger than the message: a record is read back in one message of 4 MiB.
inline constexpr size_t kMaxEvidenceJsonBytes = 3 << 20;

// Leaves out details until the evidence fits, the least telling first: measured details of passed cases, lists of
// opened files past the first thousand, measured details of all cases. Each thing left out is a sentence in
// not_covered, so that a PASS shows as limited; but an opened file outside the declared tree always stays. What does
// not fit even so becomes INFRA(evidence) without cases.
void FitEvidence(v1::Evidence* evidence);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_EVIDENCE_SIZE_H_
