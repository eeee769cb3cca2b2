#include "agent/report/test_report.h"

#include <fmt/format.h>

#include "absl/status/status.h"

namespace pyptox::agent {

absl::StatusOr<TestReport> ParseTestReport(v1::ReportFormat format, std::string_view text, std::string_view name) {
  if (text.empty()) return absl::InvalidArgumentError(fmt::format("{}: the report is empty", name));
  switch (format) {
    case v1::REPORT_FORMAT_JUNIT:
      return ParseJUnit(text, name);
    case v1::REPORT_FORMAT_GTEST_JSON:
      return ParseGtestJson(text, name);
    case v1::REPORT_FORMAT_TAP:
      return ParseTap(text, name);
    default:
      return absl::InvalidArgumentError(fmt::format("{}: unknown report format {}", name, static_cast<int>(format)));
  }
}

}  // namespace pyptox::agent
