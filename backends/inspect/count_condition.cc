#include "backends/inspect/count_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace pyptox::backends {
namespace {

constexpr std::string_view kClasses[] = {"xmm", "ymm", "zmm", "sve-z", "sve-p", "neon", "insn"};
constexpr std::string_view kOps[] = {"=", "!=", ">", ">=", "<", "<="};

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find(' ')));
    text.remove_prefix(words.back().size());
  }
}

template <typename List>
bool Contains(const List& list, std::string_view value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

uint64_t CountOf(std::string_view subject, const InstructionCounts& counts) {
  if (subject == "insn") return counts.instructions;
  const bool is_mnemonic = subject.starts_with("op:");
  const auto& table = is_mnemonic ? counts.by_mnemonic : counts.by_class;
  const auto at = table.find(is_mnemonic ? subject.substr(3) : subject);
  return at == table.end() ? 0 : at->second;
}

bool Holds(uint64_t count, std::string_view op, uint64_t number) {
  if (op == "=") return count == number;
  if (op == "!=") return count != number;
  if (op == ">") return count > number;
  if (op == ">=") return count >= number;
  return op == "<" ? count < number : count <= number;
}

}  // namespace

absl::StatusOr<CountCondition> ParseCountCondition(std::string_view text) {
  const std::vector<std::string_view> words = Words(text);
  CountCondition condition;
  if (words.size() == 3) {
    const bool subject = Contains(kClasses, words[0]) || (words[0].starts_with("op:") && words[0].size() > 3);
    const auto [end, error] = std::from_chars(words[2].data(), words[2].data() + words[2].size(), condition.number);
    if (subject && Contains(kOps, words[1]) && error == std::errc() && end == words[2].data() + words[2].size()) {
      condition.subject = std::string(words[0]);
      condition.op = std::string(words[1]);
      return condition;
    }
  }
  return absl::InvalidArgumentError(fmt::format(
      "'{}' is not CLASS OP NUMBER, with CLASS one of xmm ymm zmm sve-z sve-p neon insn op:MNEMONIC and OP one "
      "of = != > >= < <=",
      text));
}

std::optional<std::string> FaultOf(const CountCondition& condition, const InstructionCounts& counts) {
  const uint64_t count = CountOf(condition.subject, counts);
  if (Holds(count, condition.op, condition.number)) return std::nullopt;
  return fmt::format("{} {} {} does not hold: {} of {} instructions are {}", condition.subject, condition.op,
                     condition.number, count, counts.instructions, condition.subject);
}

}  // namespace pyptox::backends
