// Collects a TestReport and refuses what no honest report has: a case twice.
#ifndef PYPTOX_AGENT_REPORT_REPORT_BUILDER_H_
#define PYPTOX_AGENT_REPORT_REPORT_BUILDER_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "agent/report/test_report.h"

namespace pyptox::agent {

// A non-negative decimal integer below 2^64 and nothing else.
std::optional<uint64_t> ParseCount(std::string_view text);

class ReportBuilder {
 public:
  explicit ReportBuilder(std::string_view name) : name_(name) {}

  // INVALID_ARGUMENT for an empty or repeated name.
  absl::Status AddCase(std::string name, ReportedOutcome outcome, std::string_view reason);
  // Keeps `value` when it is a count (ParseCount), else ignores it.
  void AddCounter(std::string_view name, std::string_view value);
  size_t case_count() const { return report_.cases.size(); }
  TestReport Take() { return std::move(report_); }

  // INVALID_ARGUMENT whose text starts with the report's name.
  absl::Status Fault(std::string_view text) const;

 private:
  std::string name_;
  std::set<std::string> seen_;
  TestReport report_;
};

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_REPORT_REPORT_BUILDER_H_
