#include "backends/runner/json_object.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace pyptox::runner {
namespace {

using nlohmann::json;

template <typename T>
std::optional<T> IntegerOf(const json& value) {
  if (value.is_number_unsigned()) {
    const uint64_t number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<T>::max())) return std::nullopt;
    return static_cast<T>(number);
  }
  if (value.is_number_integer()) {
    const int64_t number = value.get<int64_t>();
    if (std::is_unsigned_v<T> && number < 0) return std::nullopt;
    return static_cast<T>(number);
  }
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.get_ref<const std::string&>();
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

JsonObject::JsonObject(const json& value, std::string path, absl::Status* status)
    : value_(value), path_(std::move(path)), status_(status) {
  if (!value_.is_object() && status_->ok()) {
    *status_ = absl::InvalidArgumentError(fmt::format("{}: not an object", path_));
  }
}

void JsonObject::Fail(std::string_view key, std::string_view text) {
  if (status_->ok()) *status_ = absl::InvalidArgumentError(fmt::format("{}.{}: {}", path_, key, text));
}

const json* JsonObject::Find(std::string_view key) {
  asked_.emplace(key);
  if (!value_.is_object()) return nullptr;
  const auto at = value_.find(std::string(key));
  return at == value_.end() ? nullptr : &*at;
}

bool JsonObject::Has(std::string_view key) const { return value_.is_object() && value_.contains(std::string(key)); }

std::string JsonObject::String(std::string_view key) {
  const json* member = Find(key);
  if (member == nullptr) return "";
  if (!member->is_string()) {
    Fail(key, "not a string");
    return "";
  }
  return member->get<std::string>();
}

std::string JsonObject::RequiredString(std::string_view key) {
  std::string text = String(key);
  if (text.empty()) Fail(key, "missing or empty");
  return text;
}

bool JsonObject::Bool(std::string_view key) {
  const json* member = Find(key);
  if (member == nullptr) return false;
  if (!member->is_boolean()) Fail(key, "not a boolean");
  return member->is_boolean() && member->get<bool>();
}

double JsonObject::Double(std::string_view key) {
  const json* member = Find(key);
  if (member == nullptr) return 0;
  if (member->is_number()) return member->get<double>();
  if (*member == "Infinity") return std::numeric_limits<double>::infinity();
  if (*member == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (*member == "NaN") return std::numeric_limits<double>::quiet_NaN();
  Fail(key, "not a number");
  return 0;
}

uint64_t JsonObject::Unsigned(std::string_view key, uint64_t max) {
  const json* member = Find(key);
  if (member == nullptr) return 0;
  const std::optional<uint64_t> number = IntegerOf<uint64_t>(*member);
  if (!number.has_value() || *number > max) Fail(key, fmt::format("not an integer in 0 to {}", max));
  return number.value_or(0);
}

int64_t JsonObject::Signed(std::string_view key, int64_t min, int64_t max) {
  const json* member = Find(key);
  if (member == nullptr) return 0;
  const std::optional<int64_t> number = IntegerOf<int64_t>(*member);
  if (!number.has_value() || *number < min || *number > max)
    Fail(key, fmt::format("not an integer in {} to {}", min, max));
  return number.value_or(0);
}

std::vector<uint64_t> JsonObject::UnsignedList(std::string_view key) {
  std::vector<uint64_t> list;
  const json* member = Find(key);
  if (member == nullptr) return list;
  if (!member->is_array()) {
    Fail(key, "not a list");
    return list;
  }
  for (const json& element : *member) {
    const std::optional<uint64_t> number = IntegerOf<uint64_t>(element);
    if (!number.has_value()) Fail(key, "not a list of unsigned integers");
    list.push_back(number.value_or(0));
  }
  return list;
}

int JsonObject::Enum(std::string_view key, std::string_view prefix, const std::vector<std::string_view>& names) {
  const std::string text = String(key);
  if (text.empty()) return 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (text == fmt::format("{}{}", prefix, names[i])) return static_cast<int>(i) + 1;
  }
  Fail(key, fmt::format("unknown value '{}'", text));
  return 0;
}

std::optional<JsonObject> JsonObject::Object(std::string_view key) {
  const json* member = Find(key);
  if (member == nullptr) return std::nullopt;
  return JsonObject(*member, fmt::format("{}.{}", path_, key), status_);
}

std::vector<JsonObject> JsonObject::List(std::string_view key) {
  std::vector<JsonObject> list;
  const json* member = Find(key);
  if (member == nullptr) return list;
  if (!member->is_array()) {
    Fail(key, "not a list");
    return list;
  }
  for (size_t i = 0; i < member->size(); ++i) {
    list.emplace_back((*member)[i], fmt::format("{}.{}[{}]", path_, key, i), status_);
  }
  return list;
}

void JsonObject::Finish() {
  if (!value_.is_object()) return;
  for (const auto& [key, member] : value_.items()) {
    if (!asked_.contains(key)) Fail(key, "unknown member");
  }
}

}  // namespace pyptox::runner
