// A strict view of one JSON object: every member is asked for by name and type, and what nobody asked for is an error.
#ifndef PYPTOX_BACKENDS_RUNNER_JSON_OBJECT_H_
#define PYPTOX_BACKENDS_RUNNER_JSON_OBJECT_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace pyptox::runner {

// Collects the first error in a shared status; after an error every getter gives its default. Borrows `value`.
class JsonObject {
 public:
  JsonObject(const nlohmann::json& value, std::string path, absl::Status* status);

  bool Has(std::string_view key) const;
  std::string String(std::string_view key);
  // Must be there and not empty.
  std::string RequiredString(std::string_view key);
  bool Bool(std::string_view key);
  double Double(std::string_view key);
  // Integers may be JSON numbers or, as proto3 writes 64-bit ones, strings of digits.
  uint64_t Unsigned(std::string_view key, uint64_t max);
  int64_t Signed(std::string_view key, int64_t min, int64_t max);
  std::vector<uint64_t> UnsignedList(std::string_view key);
  // Number of the enum value whose name is `prefix` + one of `names` (numbered from 1); 0 when the key is absent.
  int Enum(std::string_view key, std::string_view prefix, const std::vector<std::string_view>& names);
  // Member objects; `List` gives one view an element.
  std::optional<JsonObject> Object(std::string_view key);
  std::vector<JsonObject> List(std::string_view key);

  // Records an error at this object's member.
  void Fail(std::string_view key, std::string_view text);
  // Errors on members that no getter asked for.
  void Finish();

 private:
  const nlohmann::json* Find(std::string_view key);

  const nlohmann::json& value_;
  std::string path_;
  absl::Status* status_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace pyptox::runner

#endif  // PYPTOX_BACKENDS_RUNNER_JSON_OBJECT_H_
