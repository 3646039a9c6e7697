#include "server/convert/wire_check.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/scene/problems.h"

namespace eipc {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void CheckNumber(double value, const std::string& path, Problems* problems) {
  if (!std::isfinite(value)) problems->Add(path, "must be finite, got ", value);
}

void CheckEnum(const FieldDescriptor& field, int value, const std::string& path, Problems* problems) {
  if (field.enum_type()->FindValueByNumber(value) == nullptr) {
    problems->Add(path, "unknown value ", value, " of ", field.enum_type()->name());
  }
}

// Element `index` of a repeated field, or the field itself when index is -1.
void CheckValue(const Message& message, const FieldDescriptor& field, int index, const std::string& path, Problems* problems) {
  const Reflection& reflection = *message.GetReflection();
  const bool one = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return CheckNumber(one ? reflection.GetDouble(message, &field) : reflection.GetRepeatedDouble(message, &field, index), path,
                         problems);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return CheckNumber(one ? reflection.GetFloat(message, &field) : reflection.GetRepeatedFloat(message, &field, index), path,
                         problems);
    case FieldDescriptor::CPPTYPE_ENUM:
      return CheckEnum(field,
                       one ? reflection.GetEnumValue(message, &field) : reflection.GetRepeatedEnumValue(message, &field, index),
                       path, problems);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return CheckFiniteAndKnown(
          one ? reflection.GetMessage(message, &field) : reflection.GetRepeatedMessage(message, &field, index), path, problems);
    default:
      return;
  }
}

}  // namespace

void CheckFiniteAndKnown(const Message& message, const std::string& path, Problems* problems) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string here = absl::StrCat(path, path.empty() ? "" : ".", field->name());
    if (!field->is_repeated()) {
      CheckValue(message, *field, -1, here, problems);
      continue;
    }
    const int size = message.GetReflection()->FieldSize(message, field);
    for (int i = 0; i < size; ++i) CheckValue(message, *field, i, absl::StrCat(here, "[", i, "]"), problems);
  }
}

}  // namespace eipc
