#include "controller/core/case_choice.h"

#include <fmt/format.h>

#include <string_view>

namespace pyptox::controller {
namespace {

// '*' is any text, '?' any one byte.
bool Matches(std::string_view pattern, std::string_view name) {
  size_t at = 0, in = 0, star = std::string_view::npos, resume = 0;
  while (in < name.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = in;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == name[in])) {
      ++at, ++in;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      in = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ChooseCases(const v1::Suite& suite, const std::vector<std::string>& patterns) {
  std::vector<std::string> chosen;
  std::vector<bool> used(patterns.size());
  for (const v1::Case& one : suite.cases()) {
    bool wanted = false;
    for (size_t i = 0; i < patterns.size(); ++i) {
      if (!Matches(patterns[i], one.name())) continue;
      used[i] = wanted = true;
    }
    if (wanted) chosen.push_back(one.name());
  }
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!used[i]) {
      return absl::InvalidArgumentError(
          fmt::format("case_patterns: `{}` matches no case of suite {}", patterns[i], suite.name()));
    }
  }
  if (chosen.size() == static_cast<size_t>(suite.cases_size())) chosen.clear();
  return chosen;
}

}  // namespace pyptox::controller
