#include "backends/inspect/disassembly.h"

#include <algorithm>
#include <set>
#include <vector>

namespace pyptox::backends {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }
bool IsWord(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// `  4011a0:<tab>c5 fc 58 ..<tab>vaddps %ymm0,...` or, without raw bytes, `  4011a0:<tab>vaddps ...`. Empty for another
// line.
std::string_view InstructionOf(std::string_view line) {
  const size_t colon = line.find(':');
  const size_t begin = line.find_first_not_of(' ');
  if (colon == std::string_view::npos || begin >= colon) return {};
  if (!std::all_of(line.begin() + static_cast<long>(begin), line.begin() + static_cast<long>(colon), IsHex)) return {};
  if (colon + 1 >= line.size() || line[colon + 1] != '\t') return {};
  std::string_view rest = line.substr(colon + 2);
  if (const size_t tab = rest.find('\t'); tab != std::string_view::npos) {
    // A first column of hex digits and blanks alone is raw bytes: x86 prints pairs, AArch64 one word of eight.
    const std::string_view column = rest.substr(0, tab);
    const size_t digits = column.find_first_not_of(' ');
    const bool raw = digits != std::string_view::npos &&
                     std::all_of(column.begin(), column.end(), [](char c) { return IsHex(c) || c == ' '; }) &&
                     (column.find(' ') != std::string_view::npos || column.size() >= 8);
    if (raw) rest = rest.substr(tab + 1);
  }
  // Only raw bytes, a continuation of a long x86 instruction: no letter past f, and no operand.
  if (std::all_of(rest.begin(), rest.end(), [](char c) { return IsHex(c) || c == ' '; })) {
    if (rest.find(' ') != std::string_view::npos) return {};
  }
  // Comments of the disassembler: `# 4010 <x>` (x86) and `// #16` (AArch64, where `#16` alone is an operand).
  rest = rest.substr(0, std::min(rest.find(" # "), rest.find("//")));
  return rest;
}

// `name` followed by a number up to `last` and nothing else that belongs to the word.
bool IsRegister(std::string_view word, std::string_view name, int last) {
  if (!word.starts_with(name)) return false;
  const std::string_view digits = word.substr(name.size());
  if (digits.empty() || digits.size() > 2 || !std::all_of(digits.begin(), digits.end(), IsDigit)) return false;
  return std::stoi(std::string(digits)) <= last;
}

// Classes of one operand word; `next` is the character behind it.
std::string_view ClassOf(std::string_view word, char next) {
  if (IsRegister(word, "zmm", 31)) return "zmm";
  if (IsRegister(word, "ymm", 31)) return "ymm";
  if (IsRegister(word, "xmm", 31)) return "xmm";
  if (IsRegister(word, "z", 31)) return "sve-z";
  if (IsRegister(word, "p", 15)) return "sve-p";
  if (IsRegister(word, "q", 31)) return "neon";
  if (IsRegister(word, "v", 31) && next == '.') return "neon";
  return {};
}

std::set<std::string_view> ClassesOf(std::string_view operands) {
  std::set<std::string_view> classes;
  for (size_t at = 0; at < operands.size();) {
    if (operands[at] == '<') {  // A symbol's name is no operand.
      at = std::min(operands.find('>', at), operands.size() - 1) + 1;
      continue;
    }
    if (!IsWord(operands[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < operands.size() && IsWord(operands[end])) ++end;
    const std::string_view found = ClassOf(operands.substr(at, end - at), end < operands.size() ? operands[end] : '\0');
    if (!found.empty()) classes.insert(found);
    at = end;
  }
  return classes;
}

}  // namespace

InstructionCounts CountInstructions(std::string_view text) {
  static constexpr std::string_view kPrefixes[] = {"rep",     "repz",   "repnz",  "lock", "xacquire", "xrelease", "bnd",
                                                   "notrack", "data16", "addr32", "cs",   "ds",       "es",       "ss",
                                                   "fs",      "gs",     "rex.W",  "rex",  "{vex}",    "{evex}"};
  InstructionCounts counts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view instruction = InstructionOf(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (instruction.empty()) continue;
    std::string_view mnemonic;
    do {
      instruction.remove_prefix(std::min(instruction.find_first_not_of(" \t"), instruction.size()));
      mnemonic = instruction.substr(0, instruction.find_first_of(" \t"));
      instruction.remove_prefix(mnemonic.size());
    } while (std::find(std::begin(kPrefixes), std::end(kPrefixes), mnemonic) != std::end(kPrefixes));
    if (mnemonic.empty() || mnemonic.front() == '.' || mnemonic == "(bad)") continue;
    ++counts.instructions;
    ++counts.by_mnemonic[std::string(mnemonic)];
    for (const std::string_view found : ClassesOf(instruction)) ++counts.by_class[std::string(found)];
  }
  return counts;
}

}  // namespace pyptox::backends
