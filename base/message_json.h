// Protobuf messages as JSON: proto field names, enums by name, 64-bit integers as strings, default values left out.
#ifndef PYPTOX_BASE_MESSAGE_JSON_H_
#define PYPTOX_BASE_MESSAGE_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace pyptox {

// INVALID_ARGUMENT for a string field that is not UTF-8.
absl::StatusOr<nlohmann::json> MessageToJson(const google::protobuf::Message& message);

// Canonical JSON of the message (base/canonical_json.h): the stable bytes that digests are taken of.
absl::StatusOr<std::string> MessageToCanonicalJson(const google::protobuf::Message& message);

// Reads exactly the form above into an empty message. Strict: an unknown field, a wrong type, null, or a value out of
// range is INVALID_ARGUMENT with `name` and the field's path. (64-bit integers may be numbers too.)
absl::Status JsonToMessage(std::string_view text, std::string_view name, google::protobuf::Message* message);

}  // namespace pyptox

#endif  // PYPTOX_BASE_MESSAGE_JSON_H_
