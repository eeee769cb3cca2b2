// Which records may stand in the matrix, and what a lane planned. Pure.
#ifndef PYPTOX_MATRIX_ADMISSION_H_
#define PYPTOX_MATRIX_ADMISSION_H_

#include <cstdint>
#include <string>

#include "pyptox/v1/record.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::matrix {

// Number of cases that a lane must have: the suite's for kernels, the report's plus one a compare for a program.
uint32_t PlannedCases(const v1::Suite& suite, const v1::Lane& lane);

// Why the record may not stand in the matrix, the first reason that holds: `partial`, `no repository`, `dirty tree`,
// `opened a file outside the declared tree: PATH`. Empty: it may.
std::string NotAdmitted(const v1::Record& record);

// The controller's own look at an agent's evidence: the outcome that the evidence supports, never higher than the
// agent's. A PASS whose cases do not add up becomes what they add up to; an agent's verdict that is none of its
// business becomes INFRA(outcome).
v1::Outcome AdmittedOutcome(const v1::Evidence& evidence, uint32_t planned);

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_ADMISSION_H_
