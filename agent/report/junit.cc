// JUnit XML as Ant, Maven, pytest and GoogleTest write it, by expat: it refuses control characters and cut documents
// and knows the byte where it stopped.
#include <expat.h>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/report/report_builder.h"

namespace pyptox::agent {
namespace {

// As of JSON (DESIGN section 10): every open suite is held with its totals.
constexpr size_t kMaxDepth = 64;

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
    // `status="failed"` of a case whose elements may say nothing of it; empty when it has none.
    std::string failed_by_attribute;
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

  static bool IsSuite(std::string_view name) { return name == "testsuites" || name == "testsuite"; }
  static bool IsSaid(std::string_view name) { return name == "failure" || name == "error" || name == "skipped"; }

  // Elements that say how a test ended count where the format has them. Anywhere else they say something that would be
  // lost, such as the error of a suite's set-up.
  absl::Status CheckPlace(std::string_view name) const {
    if (open_.empty()) {
      if (IsSuite(name)) return absl::OkStatus();
      return builder_.Fault(fmt::format("the root element is <{}>, not <testsuites> or <testsuite>", name));
    }
    if (open_.size() == kMaxDepth) return builder_.Fault(fmt::format("nested deeper than {}", kMaxDepth));
    const bool in_place = IsSuite(name) || name == "testcase" ? IsSuite(open_.back())
                          : IsSaid(name)                      ? open_.back() == "testcase"
                                                              : true;
    if (!in_place) return builder_.Fault(fmt::format("a <{}> inside a <{}>", name, open_.back()));
    if (name != "flakyFailure" && name != "flakyError") return absl::OkStatus();
    return builder_.Fault(fmt::format("a <{}>: case '{}' failed before it passed", name, case_ ? case_->name : ""));
  }

  void Start(std::string_view name, const Attributes& attributes) {
    if (!fault_.ok()) return;
    if (absl::Status status = CheckPlace(name); !status.ok()) return Stop(std::move(status));
    open_.emplace_back(name);
    if (IsSuite(name)) {
      totals_.emplace_back().said = attributes;
    } else if (name == "testcase") {
      StartCase(attributes);
    } else if (name == "property") {
      builder_.AddCounter(Get(attributes, "name"), Get(attributes, "value"));
    } else if (IsSaid(name) && (case_->kind == "passed" || case_->kind == "skipped")) {
      // The worst of several counts: an error or a failure is never hidden by a skip.
      case_->kind = name;
      case_->reason = Get(attributes, "message");
      in_reason_ = case_->reason.empty();
    }
  }

  // Besides the elements some writers have attributes: GoogleTest `status` and `result`, CTest `status`.
  void StartCase(const Attributes& attributes) {
    static const std::set<std::string, std::less<>> kSkipped = {"notrun", "disabled", "suppressed", "skipped",
                                                                "ignored"};
    static const std::set<std::string, std::less<>> kFailed = {"fail", "failed", "failure", "error"};
    const std::string group = Get(attributes, "classname");
    case_.emplace();
    case_->name = group.empty() ? Get(attributes, "name") : fmt::format("{}.{}", group, Get(attributes, "name"));
    for (const char* key : {"status", "result"}) {
      const std::string word = Get(attributes, key);
      if (kSkipped.contains(word)) case_->kind = "skipped";
      if (word == "notrun") case_->reason = "disabled";
      if (kFailed.contains(word)) case_->failed_by_attribute = fmt::format("{}=\"{}\"", key, word);
    }
  }

  void End(std::string_view name) {
    if (!fault_.ok()) return;
    open_.pop_back();
    in_reason_ = false;
    if (name == "testcase") EndCase();
    if (name == "testsuites" || name == "testsuite") EndSuite();
  }

  void EndCase() {
    static const std::map<std::string, std::string, std::less<>> kTotalOfKind = {
        {"failure", "failures"}, {"error", "errors"}, {"skipped", "skipped"}};
    if (!case_->failed_by_attribute.empty() && (case_->kind == "passed" || case_->kind == "skipped")) {
      case_->kind = "failure";
      case_->reason = case_->failed_by_attribute;
    }
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

  // Totals that a suite announces must be those that it holds. GoogleTest counts a disabled test apart from `skipped`,
  // so these may be fewer; more than there are were shown as passed.
  void EndSuite() {
    const Totals totals = std::move(totals_.back());
    totals_.pop_back();
    for (const char* key : {"tests", "failures", "errors"}) {
      const std::string said = Get(totals.said, key);
      if (!said.empty() && ParseCount(said) != totals.found.at(key)) {
        return Stop(WrongTotal(totals, key, totals.found.at(key)));
      }
    }
    for (const char* key : {"skipped", "disabled"}) {
      const std::string said = Get(totals.said, key);
      const std::optional<uint64_t> count = ParseCount(said);
      if (!said.empty() && (!count.has_value() || *count > totals.found.at("skipped"))) {
        return Stop(WrongTotal(totals, key, totals.found.at("skipped")));
      }
    }
  }

  absl::Status WrongTotal(const Totals& totals, const char* key, uint64_t found) const {
    return builder_.Fault(fmt::format("suite '{}' says {}=\"{}\", but has {}", Get(totals.said, "name"), key,
                                      Get(totals.said, key), found));
  }

  ReportBuilder builder_;
  std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser_;
  absl::Status fault_;
  // Names of the open elements.
  std::vector<std::string> open_;
  bool in_reason_ = false;
  std::vector<Totals> totals_;
  std::optional<OpenCase> case_;
};

}  // namespace

absl::StatusOr<TestReport> ParseJUnit(std::string_view text, std::string_view name) {
  return JUnitReader(name).Read(text);
}

}  // namespace pyptox::agent
