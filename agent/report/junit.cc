// JUnit XML as Ant, Maven, pytest and GoogleTest write it, by expat: it refuses control characters and cut documents
// and knows the byte where it stopped.
#include <expat.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/report/report_builder.h"

namespace pyptox::agent {
namespace {

using Attributes = std::map<std::string, std::string, std::less<>>;

class JUnitReader {
 public:
  explicit JUnitReader(std::string_view name) : builder_(name), parser_(XML_ParserCreate(nullptr), XML_ParserFree) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &OnStart, &OnEnd);
    XML_SetCharacterDataHandler(parser_.get(), &OnText);
    XML_SetStartDoctypeDeclHandler(parser_.get(), &OnDoctype);
  }

  absl::StatusOr<TestReport> Read(std::string_view text) {
    if (text.size() > INT32_MAX) return builder_.Fault("the report is larger than 2 GiB");
    const XML_Status parsed = XML_Parse(parser_.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
    if (!fault_.ok()) return fault_;
    if (parsed != XML_STATUS_OK) {
      return builder_.Fault(fmt::format("byte {}: {}", XML_GetCurrentByteIndex(parser_.get()),
                                        XML_ErrorString(XML_GetErrorCode(parser_.get()))));
    }
    return builder_.Take();
  }

 private:
  // What a <testsuite> or <testsuites> announced and what was found under it.
  struct Totals {
    Attributes said;
    std::map<std::string, uint64_t, std::less<>> found = {{"tests", 0}, {"failures", 0}, {"errors", 0}, {"skipped", 0}};
  };
  struct OpenCase {
    std::string name;
    std::string kind = "passed";
    std::string reason;
  };

  static void OnStart(void* self, const XML_Char* name, const XML_Char** pairs) {
    Attributes attributes;
    for (; *pairs != nullptr; pairs += 2) attributes.emplace(pairs[0], pairs[1]);
    static_cast<JUnitReader*>(self)->Start(name, attributes);
  }
  static void OnEnd(void* self, const XML_Char* name) { static_cast<JUnitReader*>(self)->End(name); }
  static void OnText(void* self, const XML_Char* text, int length) {
    auto* reader = static_cast<JUnitReader*>(self);
    if (reader->in_reason_) reader->case_->reason.append(text, static_cast<size_t>(length));
  }
  static void OnDoctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    auto* reader = static_cast<JUnitReader*>(self);
    reader->Stop(reader->builder_.Fault("a document type declaration has no place in a report"));
  }

  void Stop(absl::Status status) {
    if (fault_.ok()) fault_ = std::move(status);
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  static std::string Get(const Attributes& attributes, std::string_view key) {
    const auto at = attributes.find(key);
    return at == attributes.end() ? "" : at->second;
  }

  void Start(std::string_view name, const Attributes& attributes) {
    if (depth_++ == 0 && name != "testsuites" && name != "testsuite") {
      return Stop(builder_.Fault(fmt::format("the root element is <{}>, not <testsuites> or <testsuite>", name)));
    }
    if (name == "testsuites" || name == "testsuite") {
      totals_.push_back({attributes, {}});
    } else if (name == "testcase") {
      if (case_.has_value()) return Stop(builder_.Fault("a <testcase> inside a <testcase>"));
      const std::string group = Get(attributes, "classname");
      case_.emplace();
      case_->name = group.empty() ? Get(attributes, "name") : fmt::format("{}.{}", group, Get(attributes, "name"));
      if (Get(attributes, "status") == "notrun") *case_ = {case_->name, "skipped", "disabled"};
    } else if (name == "property") {
      const absl::Status status = builder_.AddCounter(Get(attributes, "name"), Get(attributes, "value"));
      if (!status.ok()) Stop(status);
    } else if (case_.has_value() && (name == "failure" || name == "error" || name == "skipped")) {
      // The worst of several counts: an error or a failure is never hidden by a skip.
      if (case_->kind == "passed" || case_->kind == "skipped") {
        *case_ = {case_->name, std::string(name), Get(attributes, "message")};
        in_reason_ = case_->reason.empty();
      }
    }
  }

  void End(std::string_view name) {
    --depth_;
    in_reason_ = false;
    if (name == "testcase") EndCase();
    if (name == "testsuites" || name == "testsuite") EndSuite();
  }

  void EndCase() {
    static const std::map<std::string, std::string, std::less<>> kTotalOfKind = {
        {"failure", "failures"}, {"error", "errors"}, {"skipped", "skipped"}};
    for (Totals& totals : totals_) {
      ++totals.found["tests"];
      if (const auto at = kTotalOfKind.find(case_->kind); at != kTotalOfKind.end()) ++totals.found[at->second];
    }
    const ReportedOutcome outcome = case_->kind == "passed"    ? ReportedOutcome::kPassed
                                    : case_->kind == "skipped" ? ReportedOutcome::kSkipped
                                                               : ReportedOutcome::kFailed;
    if (outcome == ReportedOutcome::kSkipped && case_->reason.empty()) case_->reason = "skipped without a reason";
    const absl::Status status = builder_.AddCase(case_->name, outcome, case_->reason);
    case_.reset();
    if (!status.ok()) Stop(status);
  }

  // Totals that a suite announces must be those that it holds. GoogleTest counts a disabled test apart from `skipped`.
  void EndSuite() {
    const Totals totals = std::move(totals_.back());
    totals_.pop_back();
    for (const char* key : {"tests", "failures", "errors"}) {
      const std::string said = Get(totals.said, key);
      if (!said.empty() && ParseCount(said) != totals.found.at(key)) {
        return Stop(builder_.Fault(fmt::format("suite '{}' says {}=\"{}\", but has {}", Get(totals.said, "name"), key,
                                               said, totals.found.at(key))));
      }
    }
  }

  ReportBuilder builder_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  absl::Status fault_;
  int depth_ = 0;
  bool in_reason_ = false;
  std::vector<Totals> totals_;
  std::optional<OpenCase> case_;
};

}  // namespace

absl::StatusOr<TestReport> ParseJUnit(std::string_view text, std::string_view name) {
  return JUnitReader(name).Read(text);
}

}  // namespace pyptox::agent
