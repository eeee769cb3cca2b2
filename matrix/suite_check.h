// Everything that can be wrong with a suite, beyond its text. Pure; both ends call it: `pyptox-ctl suite check` to tell
// a person early, the controller to decide.
#ifndef PYPTOX_MATRIX_SUITE_CHECK_H_
#define PYPTOX_MATRIX_SUITE_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_field.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::matrix {

// Most cases in a suite and buffers in a case: bounds what an attempt and a record can grow to.
inline constexpr int kMaxCases = 4096;
inline constexpr int kMaxBuffers = 1024;

// One fault; `path` is written like `lanes[2].compile[0].argv`.
struct SuiteFault {
  std::string path;
  std::string text;
};

// All faults, in the order of the suite. Cases of `cases_from` files are in `suite.cases` already.
std::vector<SuiteFault> CheckSuite(const v1::Suite& suite);

// Names of the cases that the patterns (names or globs) pick, in the suite's order. INVALID_ARGUMENT for a pattern that
// picks none.
absl::StatusOr<std::vector<std::string>> PickCases(const v1::Suite& suite,
                                                   const google::protobuf::RepeatedPtrField<std::string>& patterns);

// Null for an unknown name.
const v1::Lane* FindLane(const v1::Suite& suite, std::string_view name);

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_SUITE_CHECK_H_
