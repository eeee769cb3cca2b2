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

// Strict: an unknown field or a wrong type is INVALID_ARGUMENT. `name` stands in the error.
absl::Status JsonToMessage(std::string_view text, std::string_view name, google::protobuf::Message* message);

}  // namespace pyptox

#endif  // PYPTOX_BASE_MESSAGE_JSON_H_
