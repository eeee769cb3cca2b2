// What outcomes mean: from cases to a verdict, from a verdict to words and exit codes. Pure.
#ifndef PYPTOX_MATRIX_VERDICT_H_
#define PYPTOX_MATRIX_VERDICT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/exit_codes.h"
#include "google/protobuf/repeated_field.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::matrix {

using CaseResults = google::protobuf::RepeatedPtrField<v1::CaseResult>;

v1::Outcome MakeOutcome(v1::Verdict verdict, std::string_view kind, std::string reason);

// Passed, failed, skipped and other cases, out of `planned`.
v1::CaseCounts CountCases(const CaseResults& cases, uint32_t planned);

// A case outcome that blames the code under test: MISMATCH, OUT_OF_BOUNDS, CRASH, ...
bool IsFailure(v1::CaseOutcome outcome);

// The verdict that the cases add up to, the worst first: FAIL(cases), INFRA(cases), BLOCKED_DEVICE(cases),
// NO_VERDICT(planned) when there are none, not as many as planned, or all are skipped, PASS.
v1::Outcome OutcomeOfCases(const CaseResults& cases, uint32_t planned);

// The harness or the host was at fault: worth another attempt.
bool IsRetryable(const v1::Outcome& outcome);

// `PASS`, `NO_VERDICT`, ... without the enum's prefix.
std::string VerdictWord(v1::Verdict verdict);

// `PASS`, `FAIL`, `TIMEOUT(silence)`, `INFRA(report)`, `BLOCKED_TOOLCHAIN`.
std::string OutcomeWord(const v1::Outcome& outcome);

// `MISMATCH`, `PASS`, ... without the enum's prefix.
std::string CaseOutcomeWord(v1::CaseOutcome outcome);

// `native`, `virtualized`, ...; empty for unspecified.
std::string EvidenceClassWord(v1::EvidenceClass evidence_class);

ExitCode ExitCodeOf(const v1::Outcome& outcome);

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_VERDICT_H_
