// Which cases of a suite a submission wants.
#ifndef PYPTOX_CONTROLLER_CORE_CASE_CHOICE_H_
#define PYPTOX_CONTROLLER_CORE_CASE_CHOICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::controller {

// Names of the cases that match a pattern ('*', '?'), in the suite's order; empty when that is all of them, or there
// are no patterns. INVALID_ARGUMENT for a pattern that matches nothing.
absl::StatusOr<std::vector<std::string>> ChooseCases(const v1::Suite& suite, const std::vector<std::string>& patterns);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_CORE_CASE_CHOICE_H_
