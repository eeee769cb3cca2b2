#include "matrix/store/words.h"

#include <fmt/format.h>

#include <string_view>

#include "matrix/verdict.h"

namespace pyptox::store {

std::string EnumWord(const google::protobuf::EnumDescriptor* descriptor, int number) {
  const auto* value = descriptor->FindValueByNumber(number);
  if (value == nullptr) return fmt::format("{}", number);
  // The prefix is the enum's name in capitals; the zero value `.._UNSPECIFIED` shows its length.
  const std::string& zero = descriptor->FindValueByNumber(0)->name();
  const size_t prefix = zero.size() - std::string_view("UNSPECIFIED").size();
  return value->name().substr(prefix);
}

std::string OutcomeOrEmpty(const v1::Outcome& outcome) {
  return outcome.verdict() == v1::VERDICT_UNSPECIFIED ? "" : matrix::OutcomeWord(outcome);
}

}  // namespace pyptox::store
