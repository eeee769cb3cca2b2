#include "base/text_message.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/absl_view.h"
#include "base/text_document.h"
#include "google/protobuf/descriptor.h"
#include "pyptox/v1/options.pb.h"

namespace pyptox {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;

// Text of a person in a fault: escaped and cut.
std::string Quoted(std::string_view text) {
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(AbslView(text.substr(0, 100))),
                      text.size() > 100 ? "...\"" : "\"");
}

std::string KindName(const TextNode& node) {
  switch (node.kind) {
    case TextNode::Kind::kNull:
      return "nothing (put the word null in quotes if it is meant as text)";
    case TextNode::Kind::kScalar:
      return Quoted(node.scalar);
    case TextNode::Kind::kList:
      return "a list";
    case TextNode::Kind::kMap:
      return "a map";
  }
  return "";
}

// Prefix of the enum's value names, by its zero value: DTYPE_UNSPECIFIED gives `DTYPE_`.
std::string_view EnumPrefix(const EnumDescriptor& type) {
  std::string_view zero = type.value(0)->name();
  if (zero.ends_with("UNSPECIFIED")) zero.remove_suffix(std::string_view("UNSPECIFIED").size());
  return zero;
}

std::string EnumWord(const EnumDescriptor& type, const EnumValueDescriptor& value) {
  return absl::AsciiStrToLower(value.name().substr(EnumPrefix(type).size()));
}

// Plain decimal without sign plus, blanks or leading zeros (which YAML 1.1 takes for octal).
template <typename T>
bool ParseInteger(std::string_view text, T* value) {
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
  if (digits.size() > 1 && digits.front() == '0') return false;
  const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), *value);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

bool ParseDouble(std::string_view text, double* value) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& [word, special] : {std::pair<std::string_view, double>(".inf", kInfinity),
                                      {"-.inf", -kInfinity},
                                      {".nan", std::numeric_limits<double>::quiet_NaN()}}) {
    if (text == word) {
      *value = special;
      return true;
    }
  }
  const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), *value);
  // from_chars takes "inf" and "nan" too.
  return end.ec == std::errc() && end.ptr == text.data() + text.size() && std::isfinite(*value);
}

// Walks a parse tree and a message together.
class TextReader {
 public:
  TextReader(const std::string& file, TextReading* reading) : file_(file), reading_(reading) {}

  void ReadMessage(const TextNode& node, const std::string& path, Message* message) {
    if (node.kind != TextNode::Kind::kMap) return Fault(node, path, absl::StrCat("must be a map, is ", KindName(node)));
    const Descriptor& type = *message->GetDescriptor();
    std::map<const FieldDescriptor*, int> seen;            // line of each field
    std::map<const OneofDescriptor*, std::string> chosen;  // name of the field that was written
    for (const auto& [key, value] : node.members) {
      if (key.kind != TextNode::Kind::kScalar) {
        Fault(key, path, "a field name must be plain text");
        continue;
      }
      const std::string field_path = Join(path, absl::Utf8SafeCHexEscape(key.scalar.substr(0, 100)));
      const FieldDescriptor* field = type.FindFieldByName(key.scalar);
      if (field == nullptr) {
        Fault(key, field_path, absl::StrCat("unknown field; known here: ", FieldNames(type)));
        continue;
      }
      if (const auto [first, fresh] = seen.emplace(field, key.line); !fresh) {
        Fault(key, field_path, absl::StrCat("written twice, first on line ", first->second));
        continue;
      }
      if (const OneofDescriptor* oneof = field->real_containing_oneof()) {
        if (const auto [first, fresh] = chosen.emplace(oneof, field->name()); !fresh) {
          Fault(key, field_path, absl::StrCat("excludes ", first->second, "; write one of the two"));
          continue;
        }
      }
      reading_->lines[field_path] = key.line;
      ReadField(value, field_path, *field, message);
    }
    CheckRequired(node, path, type, seen);
  }

 private:
  static std::string Join(const std::string& path, const std::string& name) {
    return path.empty() ? name : absl::StrCat(path, ".", name);
  }

  static std::string FieldNames(const Descriptor& type) {
    std::vector<std::string> names;
    for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
    return absl::StrJoin(names, ", ");
  }

  void Fault(const TextNode& node, const std::string& path, std::string text) {
    reading_->faults.push_back({file_, node.line, path, std::move(text)});
  }

  void CheckRequired(const TextNode& node, const std::string& path, const Descriptor& type,
                     const std::map<const FieldDescriptor*, int>& seen) {
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor* field = type.field(i);
      if (field->options().GetExtension(v1::required) && !seen.contains(field)) {
        Fault(node, Join(path, field->name()), "missing");
      }
    }
  }

  void ReadField(const TextNode& node, const std::string& path, const FieldDescriptor& field, Message* message) {
    const bool required = field.options().GetExtension(v1::required);
    if (!field.is_repeated()) {
      if (required && node.kind == TextNode::Kind::kScalar && node.scalar.empty()) {
        return Fault(node, path, "must not be empty");
      }
      return ReadValue(node, path, field, message);
    }
    if (node.kind != TextNode::Kind::kList)
      return Fault(node, path, absl::StrCat("must be a list, is ", KindName(node)));
    if (required && node.items.empty()) return Fault(node, path, "must not be an empty list");
    for (size_t i = 0; i < node.items.size(); ++i) {
      const std::string item_path = absl::StrCat(path, "[", i, "]");
      reading_->lines[item_path] = node.items[i].line;
      ReadValue(node.items[i], item_path, field, message);
    }
  }

  // One value: sets a single field, adds to a repeated one.
  void ReadValue(const TextNode& node, const std::string& path, const FieldDescriptor& field, Message* message) {
    const Reflection& reflection = *message->GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      return ReadMessage(
          node, path,
          field.is_repeated() ? reflection.AddMessage(message, &field) : reflection.MutableMessage(message, &field));
    }
    if (node.kind != TextNode::Kind::kScalar) {
      return Fault(node, path, absl::StrCat("must be ", TypeName(field), ", is ", KindName(node)));
    }
    const auto put = [&](auto set, auto add, auto value) {
      if (field.is_repeated()) {
        (reflection.*add)(message, &field, value);
      } else {
        (reflection.*set)(message, &field, value);
      }
    };
    const auto put_number = [&](auto parse, auto set, auto add, auto value) {
      if (node.quoted || !parse(node.scalar, &value)) {
        return Fault(
            node, path,
            absl::StrCat("must be ", TypeName(field), ", is ", node.quoted ? "the text " : "", Quoted(node.scalar)));
      }
      put(set, add, value);
    };
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return put(&Reflection::SetString, &Reflection::AddString, node.scalar);
      case FieldDescriptor::CPPTYPE_ENUM:
        if (const EnumValueDescriptor* value = FindEnumWord(*field.enum_type(), node.scalar)) {
          return put(&Reflection::SetEnum, &Reflection::AddEnum, value);
        }
        return Fault(node, path, absl::StrCat("must be ", TypeName(field), ", is ", Quoted(node.scalar)));
      case FieldDescriptor::CPPTYPE_INT32:
        return put_number(ParseInteger<int32_t>, &Reflection::SetInt32, &Reflection::AddInt32, int32_t{});
      case FieldDescriptor::CPPTYPE_INT64:
        return put_number(ParseInteger<int64_t>, &Reflection::SetInt64, &Reflection::AddInt64, int64_t{});
      case FieldDescriptor::CPPTYPE_UINT32:
        return put_number(ParseInteger<uint32_t>, &Reflection::SetUInt32, &Reflection::AddUInt32, uint32_t{});
      case FieldDescriptor::CPPTYPE_UINT64:
        return put_number(ParseInteger<uint64_t>, &Reflection::SetUInt64, &Reflection::AddUInt64, uint64_t{});
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return put_number(ParseDouble, &Reflection::SetDouble, &Reflection::AddDouble, double{});
      case FieldDescriptor::CPPTYPE_BOOL:
        return put_number(ParseBool, &Reflection::SetBool, &Reflection::AddBool, false);
      default:
        return Fault(node, path, "this field can't be written in a text file");
    }
  }

  static bool ParseBool(std::string_view text, bool* value) {
    *value = text == "true";
    return *value || text == "false";
  }

  static const EnumValueDescriptor* FindEnumWord(const EnumDescriptor& type, std::string_view word) {
    for (int i = 0; i < type.value_count(); ++i) {
      const EnumValueDescriptor* value = type.value(i);
      if (value->number() != 0 && EnumWord(type, *value) == word) return value;
    }
    return nullptr;
  }

  static std::string TypeName(const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return "text";
      case FieldDescriptor::CPPTYPE_BOOL:
        return "true or false";
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return "a number";
      case FieldDescriptor::CPPTYPE_INT32:
        return "an integer from -2147483648 to 2147483647";
      case FieldDescriptor::CPPTYPE_INT64:
        return "an integer from -9223372036854775808 to 9223372036854775807";
      case FieldDescriptor::CPPTYPE_UINT32:
        return "an integer from 0 to 4294967295";
      case FieldDescriptor::CPPTYPE_UINT64:
        return "an integer from 0 to 18446744073709551615";
      case FieldDescriptor::CPPTYPE_ENUM: {
        std::vector<std::string> words;
        const EnumDescriptor& type = *field.enum_type();
        for (int i = 0; i < type.value_count(); ++i) {
          if (type.value(i)->number() != 0) words.push_back(EnumWord(type, *type.value(i)));
        }
        return absl::StrCat("one of ", absl::StrJoin(words, ", "));
      }
      default:
        return "something else";
    }
  }

  const std::string& file_;
  TextReading* reading_;
};

}  // namespace

std::string TextFault::ToString() const {
  std::string out = file;
  if (line > 0) absl::StrAppend(&out, ":", line);
  if (!path.empty()) absl::StrAppend(&out, ": ", path);
  return absl::StrCat(out, ": ", text);
}

TextReading ReadTextMessage(std::string_view text, const std::string& file, Message* message) {
  TextReading reading;
  TextNode root;
  if (ParseTextDocument(text, file, &root, &reading.faults)) TextReader(file, &reading).ReadMessage(root, "", message);
  return reading;
}

}  // namespace pyptox
