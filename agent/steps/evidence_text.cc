#include "agent/steps/evidence_text.h"

#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace pyptox::agent {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

std::string Valid(std::string_view text) {
  std::string valid;
  while (true) {
    const size_t good = ValidUtf8Prefix(text);
    valid += text.substr(0, good);
    if (good == text.size()) return valid;
    valid += "\xef\xbf\xbd";
    text.remove_prefix(good + 1);
  }
}

void MakeTextValid(Message* message, const Reflection& reflection, const FieldDescriptor* field) {
  std::string scratch;
  if (!field->is_repeated()) {
    const std::string& text = reflection.GetStringReference(*message, field, &scratch);
    if (!IsValidUtf8(text)) reflection.SetString(message, field, Valid(text));
    return;
  }
  for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
    const std::string& text = reflection.GetRepeatedStringReference(*message, field, i, &scratch);
    if (!IsValidUtf8(text)) reflection.SetRepeatedString(message, field, i, Valid(text));
  }
}

}  // namespace

void MakeTextsValid(Message* message) {
  const Reflection& reflection = *message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(*message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->type() == FieldDescriptor::TYPE_STRING) {
      MakeTextValid(message, reflection, field);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && field->is_repeated()) {
      for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
        MakeTextsValid(reflection.MutableRepeatedMessage(message, field, i));
      }
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      MakeTextsValid(reflection.MutableMessage(message, field));
    }
  }
}

}  // namespace pyptox::agent
