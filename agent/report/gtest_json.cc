// GoogleTest's --gtest_output=json, as of 1.8 to 1.15.
#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "agent/report/report_builder.h"
#include "base/canonical_json.h"

namespace pyptox::agent {
namespace {

using nlohmann::json;

// Members that GoogleTest itself writes; every other string member comes from RecordProperty.
const std::set<std::string, std::less<>> kOwnMembers = {
    "name",      "value_param", "type_param", "file",     "line",   "status",  "result",     "timestamp", "time",
    "classname", "tests",       "failures",   "disabled", "errors", "skipped", "testsuites", "testsuite"};

class GtestReader {
 public:
  explicit GtestReader(std::string_view name) : builder_(name) {}

  absl::StatusOr<TestReport> Read(const json& root) {
    if (!root.is_object() || !root.contains("testsuites") || !root["testsuites"].is_array()) {
      return builder_.Fault("not a GoogleTest report: no list `testsuites`");
    }
    Counters(root);
    for (const json& suite : root["testsuites"]) {
      if (absl::Status status = Suite(suite); !status.ok()) return status;
    }
    if (absl::Status status = Total(root, "tests", builder_.case_count(), "the report"); !status.ok()) return status;
    if (absl::Status status = Total(root, "failures", failed_, "the report"); !status.ok()) return status;
    if (absl::Status status = NoErrors(root, "the report"); !status.ok()) return status;
    return builder_.Take();
  }

 private:
  absl::Status Total(const json& object, const char* key, uint64_t found, std::string_view where) const {
    if (!object.contains(key) || !object[key].is_number_unsigned()) {
      return builder_.Fault(fmt::format("{} has no number `{}`", where, key));
    }
    const uint64_t said = object[key].get<uint64_t>();
    if (said == found) return absl::OkStatus();
    return builder_.Fault(fmt::format("{} says {} = {}, but has {}", where, key, said, found));
  }

  // An error is none of the tests' failures; a report that counts one can't be trusted to show it.
  absl::Status NoErrors(const json& object, std::string_view where) const {
    return object.contains("errors") ? Total(object, "errors", 0, where) : absl::OkStatus();
  }

  void Counters(const json& object) {
    for (const auto& [key, value] : object.items()) {
      if (!value.is_string() || kOwnMembers.contains(key)) continue;
      builder_.AddCounter(key, value.get<std::string>());
    }
  }

  absl::Status Suite(const json& suite) {
    if (!suite.is_object() || !suite.contains("name") || !suite["name"].is_string() || !suite.contains("testsuite") ||
        !suite["testsuite"].is_array()) {
      return builder_.Fault("a member of `testsuites` has no `name` or no list `testsuite`");
    }
    const std::string name = suite["name"].get<std::string>();
    Counters(suite);
    const size_t before = builder_.case_count();
    const uint64_t failed_before = failed_;
    for (const json& test : suite["testsuite"]) {
      if (absl::Status status = Test(name, test); !status.ok()) return status;
    }
    const std::string where = fmt::format("suite '{}'", name);
    absl::Status status = Total(suite, "tests", builder_.case_count() - before, where);
    if (status.ok() && suite.contains("failures")) status = Total(suite, "failures", failed_ - failed_before, where);
    if (status.ok()) status = NoErrors(suite, where);
    return status;
  }

  absl::Status Test(const std::string& suite, const json& test) {
    if (!test.is_object() || !test.contains("name") || !test["name"].is_string() || !test.contains("status") ||
        !test["status"].is_string()) {
      return builder_.Fault(fmt::format("a test of suite '{}' has no `name` or no `status`", suite));
    }
    const std::string name = fmt::format("{}.{}", suite, test["name"].get<std::string>());
    Counters(test);
    const std::string result = test.contains("result") && test["result"].is_string() ? test["result"] : "COMPLETED";
    if (test.contains("failures")) {
      ++failed_;
      return builder_.AddCase(name, ReportedOutcome::kFailed, FirstText(test["failures"], "failure"));
    }
    if (test["status"] == "NOTRUN") return builder_.AddCase(name, ReportedOutcome::kSkipped, "disabled");
    if (result == "SKIPPED") {
      const std::string reason = test.contains("skipped") ? FirstText(test["skipped"], "message") : "";
      return builder_.AddCase(name, ReportedOutcome::kSkipped, reason.empty() ? "skipped without a reason" : reason);
    }
    if (test["status"] != "RUN" || result != "COMPLETED") {
      return builder_.Fault(fmt::format("test '{}' has status {} and result {}", name, test["status"].dump(), result));
    }
    return builder_.AddCase(name, ReportedOutcome::kPassed, "");
  }

  static std::string FirstText(const json& list, const char* key) {
    if (!list.is_array() || list.empty() || !list[0].is_object() || !list[0].contains(key)) return "";
    return list[0][key].is_string() ? list[0][key].get<std::string>() : "";
  }

  ReportBuilder builder_;
  uint64_t failed_ = 0;
};

}  // namespace

absl::StatusOr<TestReport> ParseGtestJson(std::string_view text, std::string_view name) {
  absl::StatusOr<json> root = ParseJson(text, name);
  if (!root.ok()) return root.status();
  return GtestReader(name).Read(*root);
}

}  // namespace pyptox::agent
