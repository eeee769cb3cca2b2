#include "base/message_json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "base/canonical_json.h"
#include "base/utf8.h"
#include "google/protobuf/descriptor.h"

namespace pyptox {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;
using nlohmann::json;

json FloatToJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// The double nearest to the shortest decimal of `value`, so that 0.1f is written 0.1.
json FloatToJson(float value) {
  if (!std::isfinite(value)) return FloatToJson(static_cast<double>(value));
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  double wide = 0;
  std::from_chars(buffer, end.ptr, wide);
  return wide;
}

json EnumToJson(const FieldDescriptor& field, int number) {
  const EnumValueDescriptor* value = field.enum_type()->FindValueByNumber(number);
  return value != nullptr ? json(value->name()) : json(number);
}

absl::StatusOr<json> TextToJson(const FieldDescriptor& field, const std::string& text) {
  if (field.type() == FieldDescriptor::TYPE_BYTES) return absl::Base64Escape(text);
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError(absl::StrCat(field.full_name(), " is not UTF-8"));
  return text;
}

// One value of a field: element `index` of a repeated one, the value itself for index -1.
absl::StatusOr<json> ValueToJson(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  const auto get = [&](auto single, auto repeated) {
    return index < 0 ? (reflection.*single)(message, &field) : (reflection.*repeated)(message, &field, index);
  };
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return json(get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_UINT32:
      return json(get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return json(absl::StrCat(get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64)));
    case FieldDescriptor::CPPTYPE_UINT64:
      return json(absl::StrCat(get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return FloatToJson(get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FloatToJson(get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      return json(get(&Reflection::GetBool, &Reflection::GetRepeatedBool));
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumToJson(field, get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue));
    case FieldDescriptor::CPPTYPE_STRING:
      return TextToJson(field, get(&Reflection::GetString, &Reflection::GetRepeatedString));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToJson(index < 0 ? reflection.GetMessage(message, &field)
                                     : reflection.GetRepeatedMessage(message, &field, index));
  }
  return absl::InternalError(absl::StrCat(field.full_name(), ": unknown type"));
}

// Fills a message from JSON; stops at the first fault, whose text starts with the path.
class JsonReader {
 public:
  absl::Status ReadMessage(const json& value, const std::string& path, Message* message) {
    if (!value.is_object()) return Fault(path, "must be an object");
    const Descriptor& type = *message->GetDescriptor();
    std::set<const OneofDescriptor*> chosen;
    for (const auto& [key, member] : value.items()) {
      const std::string field_path = path.empty() ? key : absl::StrCat(path, ".", key);
      const FieldDescriptor* field = type.FindFieldByName(key);
      if (field == nullptr || field->is_map()) return Fault(field_path, "unknown field");
      const OneofDescriptor* oneof = field->real_containing_oneof();
      if (oneof != nullptr && !chosen.insert(oneof).second) return Fault(field_path, "excludes another field");
      if (absl::Status status = ReadField(member, field_path, *field, message); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status Fault(const std::string& path, std::string_view text) {
    return absl::InvalidArgumentError(
        absl::StrCat(absl::Utf8SafeCHexEscape(path), path.empty() ? "" : ": ", AbslView(text)));
  }

  absl::Status ReadField(const json& value, const std::string& path, const FieldDescriptor& field, Message* message) {
    if (!field.is_repeated()) return ReadValue(value, path, field, message);
    if (!value.is_array()) return Fault(path, "must be an array");
    for (size_t i = 0; i < value.size(); ++i) {
      absl::Status status = ReadValue(value[i], absl::StrCat(path, "[", i, "]"), field, message);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // One value: sets a single field, adds to a repeated one.
  absl::Status ReadValue(const json& value, const std::string& path, const FieldDescriptor& field, Message* message) {
    const Reflection& reflection = *message->GetReflection();
    const auto put = [&](auto set, auto add, const auto& read, std::string_view wanted) {
      if (!read.has_value()) return Fault(path, wanted);
      if (field.is_repeated()) {
        (reflection.*add)(message, &field, *read);
      } else {
        (reflection.*set)(message, &field, *read);
      }
      return absl::OkStatus();
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return put(&Reflection::SetInt32, &Reflection::AddInt32, ToInteger<int32_t>(value), "must be an int32");
      case FieldDescriptor::CPPTYPE_UINT32:
        return put(&Reflection::SetUInt32, &Reflection::AddUInt32, ToInteger<uint32_t>(value), "must be a uint32");
      case FieldDescriptor::CPPTYPE_INT64:
        return put(&Reflection::SetInt64, &Reflection::AddInt64, ToInteger<int64_t>(value), "must be an int64");
      case FieldDescriptor::CPPTYPE_UINT64:
        return put(&Reflection::SetUInt64, &Reflection::AddUInt64, ToInteger<uint64_t>(value), "must be a uint64");
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return put(&Reflection::SetDouble, &Reflection::AddDouble, ToDouble(value), "must be a number");
      case FieldDescriptor::CPPTYPE_FLOAT:
        return put(&Reflection::SetFloat, &Reflection::AddFloat, ToDouble(value), "must be a number");
      case FieldDescriptor::CPPTYPE_BOOL:
        return put(&Reflection::SetBool, &Reflection::AddBool,
                   value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt, "must be true or false");
      case FieldDescriptor::CPPTYPE_ENUM:
        return put(&Reflection::SetEnumValue, &Reflection::AddEnumValue, ToEnum(value, field),
                   "must be a value name of the enum");
      case FieldDescriptor::CPPTYPE_STRING:
        return put(&Reflection::SetString, &Reflection::AddString, ToText(value, field),
                   field.type() == FieldDescriptor::TYPE_BYTES ? "must be base64" : "must be a string");
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return ReadMessage(
            value, path,
            field.is_repeated() ? reflection.AddMessage(message, &field) : reflection.MutableMessage(message, &field));
    }
    return Fault(path, "unknown type");
  }

  // A number, or for 64 bits its decimal text. Nothing for a fraction or a value out of range.
  template <typename T>
  static std::optional<T> ToInteger(const json& value) {
    if (sizeof(T) == 8 && value.is_string()) {
      const std::string& text = value.get_ref<const std::string&>();
      T number = 0;
      const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), number);
      if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
      return number;
    }
    if (value.is_number_unsigned() && std::in_range<T>(value.get<uint64_t>())) return value.get<T>();
    if (value.is_number_integer() && !value.is_number_unsigned() && std::in_range<T>(value.get<int64_t>())) {
      return value.get<T>();
    }
    return std::nullopt;
  }

  static std::optional<double> ToDouble(const json& value) {
    if (value.is_number()) return value.get<double>();
    if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (value == "Infinity") return std::numeric_limits<double>::infinity();
    if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
  }

  static std::optional<int> ToEnum(const json& value, const FieldDescriptor& field) {
    if (!value.is_string()) return ToInteger<int32_t>(value);
    const EnumValueDescriptor* found = field.enum_type()->FindValueByName(value.get_ref<const std::string&>());
    return found != nullptr ? std::optional(found->number()) : std::nullopt;
  }

  static std::optional<std::string> ToText(const json& value, const FieldDescriptor& field) {
    if (!value.is_string()) return std::nullopt;
    std::string text = value.get<std::string>();
    if (field.type() == FieldDescriptor::TYPE_BYTES && !absl::Base64Unescape(value.get<std::string>(), &text)) {
      return std::nullopt;
    }
    return text;
  }
};

}  // namespace

absl::StatusOr<json> MessageToJson(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  json object = json::object();
  for (const FieldDescriptor* field : fields) {
    if (field->is_map()) return absl::UnimplementedError(absl::StrCat(field->full_name(), ": map fields have no form"));
    if (!field->is_repeated()) {
      absl::StatusOr<json> value = ValueToJson(message, *field, -1);
      if (!value.ok()) return value.status();
      object[field->name()] = *std::move(value);
      continue;
    }
    json array = json::array();
    const int size = message.GetReflection()->FieldSize(message, field);
    for (int i = 0; i < size; ++i) {
      absl::StatusOr<json> value = ValueToJson(message, *field, i);
      if (!value.ok()) return value.status();
      array.push_back(*std::move(value));
    }
    object[field->name()] = std::move(array);
  }
  return object;
}

absl::StatusOr<std::string> MessageToCanonicalJson(const Message& message) {
  absl::StatusOr<json> value = MessageToJson(message);
  if (!value.ok()) return value.status();
  return CanonicalJson(*value);
}

absl::Status JsonToMessage(std::string_view text, std::string_view name, Message* message) {
  const absl::StatusOr<json> value = ParseJson(text, name);
  if (!value.ok()) return value.status();
  const absl::Status status = JsonReader().ReadMessage(*value, "", message);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(AbslView(name), ": ", status.message()));
}

}  // namespace pyptox
