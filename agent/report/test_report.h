// What a test program's own report says: cases, skip reasons, named counters. Pure: bytes in, values out.
//
// A report is evidence only when it is whole. Anything that can't be read to its end, contradicts its own totals, names
// a case twice or holds a control character is an error, never a shorter list of passes.
#ifndef PYPTOX_AGENT_REPORT_TEST_REPORT_H_
#define PYPTOX_AGENT_REPORT_TEST_REPORT_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::agent {

enum class ReportedOutcome { kPassed, kFailed, kSkipped };

struct ReportedCase {
  // `class.name` where the format has classes.
  std::string name;
  ReportedOutcome outcome = ReportedOutcome::kPassed;
  // First line of the failure text, or the skip reason.
  std::string reason;
};

struct TestReport {
  // In the report's order, names unique.
  std::vector<ReportedCase> cases;
  // Named counters: JUnit <property>, gtest RecordProperty, TAP `# NAME VALUE`; only those whose value is a
  // non-negative integer.
  std::map<std::string, uint64_t> counters;
  // The second value of a name that appears with several: such a counter tells nothing. Properties of single tests and
  // comments are like that, so it is a fault only of what is asked for.
  std::map<std::string, uint64_t> ambiguous;
};

// Reads a report. INVALID_ARGUMENT with `name` and a byte offset or line for anything that is not a whole report of
// that format. A report without cases is read; judging it is JudgeReport's task.
absl::StatusOr<TestReport> ParseTestReport(v1::ReportFormat format, std::string_view text, std::string_view name);

// One parser each, for tests; ParseTestReport picks.
absl::StatusOr<TestReport> ParseJUnit(std::string_view text, std::string_view name);
absl::StatusOr<TestReport> ParseGtestJson(std::string_view text, std::string_view name);
absl::StatusOr<TestReport> ParseTap(std::string_view text, std::string_view name);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_REPORT_TEST_REPORT_H_
