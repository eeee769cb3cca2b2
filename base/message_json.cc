#include "base/message_json.h"

#include <charconv>
#include <cmath>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "base/canonical_json.h"
#include "base/utf8.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/json_util.h"

namespace pyptox {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
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
  // Our own reader first: protobuf's one takes duplicate keys, trailing commas and single quotes.
  if (absl::StatusOr<json> checked = ParseJson(text, name); !checked.ok()) return checked.status();
  const google::protobuf::util::Status status =
      google::protobuf::util::JsonStringToMessage({text.data(), text.size()}, message);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(AbslView(name), ": ", absl::string_view(status.message().data(), status.message().size())));
}

}  // namespace pyptox
