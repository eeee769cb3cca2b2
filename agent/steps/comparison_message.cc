#include "agent/steps/comparison_message.h"

#include <fmt/format.h>

namespace pyptox::agent {
namespace {

void Fill(const compare::ElementDifference& difference, v1::ElementDifference* message) {
  message->set_index(difference.index);
  *message->mutable_multi_index() = {difference.multi_index.begin(), difference.multi_index.end()};
  message->set_expected_hex(difference.expected_hex);
  message->set_actual_hex(difference.actual_hex);
  message->set_expected(difference.expected);
  message->set_actual(difference.actual);
  message->set_ulp(difference.ulp);
}

}  // namespace

v1::Comparison ComparisonMessage(const compare::Comparison& comparison) {
  v1::Comparison message;
  message.set_equal(comparison.equal);
  message.set_elements(comparison.elements);
  message.set_different(comparison.different);
  message.set_expected_bytes(comparison.expected_bytes);
  message.set_actual_bytes(comparison.actual_bytes);
  if (comparison.first.has_value()) Fill(*comparison.first, message.mutable_first());
  for (const compare::ElementDifference& worst : comparison.worst) Fill(worst, message.add_worst());
  message.set_max_ulp(comparison.max_ulp);
  message.set_nan_bits(comparison.nan_bits);
  message.set_nan_one_side(comparison.nan_one_side);
  message.set_zero_sign(comparison.zero_sign);
  return message;
}

std::string ComparisonSentence(const v1::Comparison& comparison) {
  if (comparison.expected_bytes() != comparison.actual_bytes()) {
    return fmt::format("{} bytes instead of {}", comparison.actual_bytes(), comparison.expected_bytes());
  }
  const v1::ElementDifference& first = comparison.first();
  return fmt::format("{} of {} elements, first at {}: {} ({}) instead of {} ({})", comparison.different(),
                     comparison.elements(), first.index(), first.actual_hex(), first.actual(), first.expected_hex(),
                     first.expected());
}

}  // namespace pyptox::agent
