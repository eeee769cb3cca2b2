// The one byte form of a JSON value, for hashing, and the one safe way to read JSON.
//
// Canonical: UTF-8, object keys sorted by bytes, no blanks, numbers that are integers below 2^63 as decimal integers,
// other numbers as the shortest decimal that reads back, strings escaped minimally (\" \\ \b \f \n \r \t and \u00xx
// below 0x20).
#ifndef PYPTOX_BASE_CANONICAL_JSON_H_
#define PYPTOX_BASE_CANONICAL_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace pyptox {

// Deepest nesting that is read (DESIGN section 10).
inline constexpr int kMaxJsonDepth = 64;

// Parses one JSON text. INVALID_ARGUMENT with line and column for bad syntax, trailing text, invalid UTF-8, a
// duplicate key, an integer past 64 bits, or nesting past kMaxJsonDepth (checked before anything is built). `name` is
// the file.
absl::StatusOr<nlohmann::json> ParseJson(std::string_view text, std::string_view name);

// Errors: INVALID_ARGUMENT for a string that is not UTF-8, NaN, infinity, or nesting past kMaxJsonDepth.
absl::StatusOr<std::string> CanonicalJson(const nlohmann::json& value);

}  // namespace pyptox

#endif  // PYPTOX_BASE_CANONICAL_JSON_H_
