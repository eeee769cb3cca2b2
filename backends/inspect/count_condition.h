// A condition on instruction counts as suites write it: `ymm > 0`, `op:whilelo >= 2`. Pure.
#ifndef PYPTOX_BACKENDS_INSPECT_COUNT_CONDITION_H_
#define PYPTOX_BACKENDS_INSPECT_COUNT_CONDITION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/inspect/disassembly.h"

namespace pyptox::backends {

struct CountCondition {
  // A class of disassembly.h.
  std::string subject;
  // = != > >= < <=
  std::string op;
  uint64_t number = 0;
};

// INVALID_ARGUMENT naming the text for anything but CLASS OP NUMBER.
absl::StatusOr<CountCondition> ParseCountCondition(std::string_view text);

// Nothing when it holds, else a sentence with the count that was found.
std::optional<std::string> FaultOf(const CountCondition& condition, const InstructionCounts& counts);

}  // namespace pyptox::backends

#endif  // PYPTOX_BACKENDS_INSPECT_COUNT_CONDITION_H_
