// TAP 12 and 13 (testanything.org), top level only: subtests and YAML blocks are indented and are skipped.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/report/report_builder.h"
#include "base/utf8.h"

namespace pyptox::agent {
namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Directives are matched without regard to case.
bool StartsWithWord(std::string_view text, std::string_view upper_case_word) {
  if (text.size() < upper_case_word.size()) return false;
  return std::equal(upper_case_word.begin(), upper_case_word.end(), text.begin(),
                    [](char upper, char c) { return upper == c || upper + ('a' - 'A') == c; });
}

class TapReader {
 public:
  explicit TapReader(std::string_view name) : builder_(name) {}

  absl::Status Line(std::string_view line, int number) {
    line_ = number;
    for (const char c : line) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t') return Fault("control character");
    }
    if (!IsValidUtf8(line)) return Fault(fmt::format("not UTF-8 at byte {}", ValidUtf8Prefix(line)));
    if (line.empty() || line.front() == ' ' || line.front() == '\t') return absl::OkStatus();
    if (line.front() == '#') return Comment(line.substr(1));
    if (line.starts_with("TAP version ")) return absl::OkStatus();
    if (line.starts_with("Bail out!")) return Fault(fmt::format("the program gave up: {}", line));
    if (line.starts_with("1..")) return Plan(line.substr(3));
    if (line == "ok" || line.starts_with("ok ")) return Test(line.substr(2), true);
    if (line == "not ok" || line.starts_with("not ok ")) return Test(line.substr(6), false);
    return Fault("this is not TAP");
  }

  absl::StatusOr<TestReport> End() {
    if (!planned_.has_value()) return builder_.Fault("no plan line (1..N): the report is cut or empty");
    if (*planned_ != builder_.case_count()) {
      return builder_.Fault(fmt::format("the plan says {} tests, the report has {}", *planned_, builder_.case_count()));
    }
    return builder_.Take();
  }

 private:
  absl::Status Fault(std::string_view text) const { return builder_.Fault(fmt::format("line {}: {}", line_, text)); }

  absl::Status Comment(std::string_view text) {
    text = Trim(text);
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return absl::OkStatus();
    builder_.AddCounter(text.substr(0, blank), Trim(text.substr(blank)));
    return absl::OkStatus();
  }

  absl::Status Plan(std::string_view text) {
    if (planned_.has_value()) return Fault("a second plan");
    planned_ = ParseCount(Trim(text.substr(0, text.find('#'))));
    if (!planned_.has_value()) return Fault("the plan has no number");
    return absl::OkStatus();
  }

  // Where a directive begins: at a `#` that SKIP or TODO follows and no backslash precedes; any other belongs to the
  // name. A failure is excused only with a blank before it, so that no name like `bug#todo` does.
  static size_t FindDirective(std::string_view text, bool ok) {
    for (size_t hash = text.find('#'); hash != std::string_view::npos; hash = text.find('#', hash + 1)) {
      const char before = hash == 0 ? ' ' : text[hash - 1];
      const std::string_view word = Trim(text.substr(hash + 1));
      const bool known = StartsWithWord(word, "SKIP") || StartsWithWord(word, "TODO");
      if (known && before != '\\' && (ok || before == ' ' || before == '\t')) return hash;
    }
    return std::string_view::npos;
  }

  absl::Status Test(std::string_view rest, bool ok) {
    std::string_view directive;
    if (const size_t hash = FindDirective(rest, ok); hash != std::string_view::npos) {
      directive = Trim(rest.substr(hash + 1));
      rest = rest.substr(0, hash);
    }
    rest = Trim(rest);
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const uint64_t expected = builder_.case_count() + 1;
    if (digits > 0) {
      if (ParseCount(rest.substr(0, digits)) != expected) {
        return Fault(fmt::format("test number {} where {} is due", rest.substr(0, digits), expected));
      }
      rest = Trim(rest.substr(digits));
    }
    if (rest.starts_with("- ")) rest.remove_prefix(2);
    const std::string name = rest.empty() ? fmt::format("test {}", expected) : std::string(rest);
    if (StartsWithWord(directive, "SKIP")) {
      const bool has_reason = directive.find_first_of(" \t") != std::string_view::npos;
      return builder_.AddCase(name, ReportedOutcome::kSkipped, has_reason ? directive : "skipped without a reason");
    }
    // A TODO that fails is a known gap, not a pass and not a failure.
    if (!ok && StartsWithWord(directive, "TODO")) {
      return builder_.AddCase(name, ReportedOutcome::kSkipped, directive);
    }
    return builder_.AddCase(name, ok ? ReportedOutcome::kPassed : ReportedOutcome::kFailed, ok ? "" : "not ok");
  }

  ReportBuilder builder_;
  int line_ = 0;
  std::optional<uint64_t> planned_;
};

}  // namespace

absl::StatusOr<TestReport> ParseTap(std::string_view text, std::string_view name) {
  TapReader reader(name);
  // Without its last newline a line may be cut: `ok 12` out of `ok 12 # SKIP no device`.
  if (text.empty() || text.back() != '\n') return ReportBuilder(name).Fault("the report does not end in a newline");
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (absl::Status status = reader.Line(line, ++number); !status.ok()) return status;
  }
  return reader.End();
}

}  // namespace pyptox::agent
