// A comparison as records carry it. Pure.
#ifndef PYPTOX_AGENT_STEPS_COMPARISON_MESSAGE_H_
#define PYPTOX_AGENT_STEPS_COMPARISON_MESSAGE_H_

#include <string>

#include "backends/compare/compare.h"
#include "pyptox/v1/launch.pb.h"

namespace pyptox::agent {

v1::Comparison ComparisonMessage(const compare::Comparison& comparison);

// One sentence about a comparison that is not equal: lengths, or how many elements and the first with both values.
std::string ComparisonSentence(const v1::Comparison& comparison);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_COMPARISON_MESSAGE_H_
