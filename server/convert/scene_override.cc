#include "server/convert/scene_override.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;

// One part of a path: `field`, `field[3]`, `field[name]`.
struct Part {
  std::string field;
  std::string key;
  bool has_key = false;
};

absl::StatusOr<std::vector<Part>> SplitPath(absl::string_view path) {
  const auto malformed = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", path, "': not a path; write field.field, field[0].field or field[name].field"));
  };
  std::vector<Part> parts;
  while (true) {
    Part part;
    const size_t end = path.find_first_of(".[");
    part.field = std::string(path.substr(0, end));
    if (part.field.empty()) return malformed();
    path.remove_prefix(std::min(end, path.size()));
    if (absl::ConsumePrefix(&path, "[")) {
      const size_t close = path.find(']');
      if (close == absl::string_view::npos || close == 0) return malformed();
      part.key = std::string(path.substr(0, close));
      part.has_key = true;
      path.remove_prefix(close + 1);
    }
    parts.push_back(std::move(part));
    if (path.empty()) return parts;
    if (!absl::ConsumePrefix(&path, ".")) return malformed();
  }
}

std::string FieldNames(const Descriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) names.push_back(type.field(i)->name());
  return absl::StrJoin(names, ", ");
}

// Element names of a repeated message field, where its type has a `name`.
std::vector<std::string> ElementNames(const Message& parent, const FieldDescriptor& field) {
  std::vector<std::string> names;
  const FieldDescriptor* name = field.message_type()->FindFieldByName("name");
  if (name == nullptr || name->cpp_type() != FieldDescriptor::CPPTYPE_STRING || name->is_repeated()) return names;
  const Reflection& reflection = *parent.GetReflection();
  for (int i = 0; i < reflection.FieldSize(parent, &field); ++i) {
    const Message& element = reflection.GetRepeatedMessage(parent, &field, i);
    names.push_back(element.GetReflection()->GetString(element, name));
  }
  return names;
}

absl::StatusOr<int> FindElement(const Message& parent, const FieldDescriptor& field, const std::string& key,
                                const std::string& where) {
  const int size = parent.GetReflection()->FieldSize(parent, &field);
  int index = 0;
  if (absl::SimpleAtoi(key, &index)) {
    if (index >= 0 && index < size) return index;
    return absl::InvalidArgumentError(absl::StrCat(where, ": index out of range, there are ", size));
  }
  const std::vector<std::string> names = ElementNames(parent, field);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == key) return static_cast<int>(i);
  }
  return absl::InvalidArgumentError(absl::StrCat(where, ": no element has that name; there are: ", absl::StrJoin(names, ", ")));
}

// Refuses to walk into an alternative that is not the one in use: setting a part of it would silently drop the other.
absl::Status CheckAlternative(const Message& parent, const FieldDescriptor& field, const std::string& where) {
  const OneofDescriptor* oneof = field.real_containing_oneof();
  if (oneof == nullptr) return absl::OkStatus();
  const FieldDescriptor* used = parent.GetReflection()->GetOneofFieldDescriptor(parent, oneof);
  if (used == nullptr || used == &field) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": '", used->name(), "' is in use there; to replace it, set ", field.name(), "={...} whole"));
}

// The message that holds the last part of the path.
absl::StatusOr<Message*> Descend(const std::vector<Part>& parts, Message* message, std::string* where) {
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const Part& part = parts[i];
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(part.field);
    absl::StrAppend(where, i == 0 ? "" : ".", part.field);
    if (field == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(*where, ": no such field; there are: ", FieldNames(*message->GetDescriptor())));
    }
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return absl::InvalidArgumentError(absl::StrCat(*where, ": has no fields of its own"));
    }
    const Reflection& reflection = *message->GetReflection();
    if (part.has_key != field->is_repeated()) {
      return absl::InvalidArgumentError(
          absl::StrCat(*where, field->is_repeated() ? ": is a list; write [0] or [name] after it" : ": is not a list"));
    }
    if (field->is_repeated()) {
      absl::StrAppend(where, "[", part.key, "]");
      EIPC_ASSIGN_OR_RETURN(const int index, FindElement(*message, *field, part.key, *where));
      message = reflection.MutableRepeatedMessage(message, field, index);
    } else {
      EIPC_RETURN_IF_ERROR(CheckAlternative(*message, *field, *where));
      message = reflection.MutableMessage(message, field);
    }
  }
  return message;
}

std::string Wanted(const FieldDescriptor& field) {
  if (field.is_repeated()) return "a list, e.g. [1, 2]";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "a message in text format, e.g. {x: 1}";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      const EnumDescriptor* type = field.enum_type();
      for (int i = 0; i < type->value_count(); ++i) names.push_back(type->value(i)->name());
      return absl::StrCat("one of ", absl::StrJoin(names, ", "));
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "a number";
    case FieldDescriptor::CPPTYPE_STRING:
      return "a text";
    default:
      return "a whole number";
  }
}

class Ignore : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
};

// Text format knows how to read every kind of value: the assignment becomes one line of it.
absl::Status SetField(const FieldDescriptor& field, const std::string& value, const std::string& where, Message* message) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field.is_repeated() && (value.empty() || value[0] != '"')) {
    message->GetReflection()->SetString(message, &field, value);
    return absl::OkStatus();
  }
  const std::unique_ptr<Message> parsed(message->New());
  Ignore ignore;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&ignore);
  // The value must not smuggle in other fields: nothing but `field` may be set afterwards.
  const bool read = !value.empty() && parser.ParseFromString(absl::StrCat(field.name(), ": ", value), parsed.get());
  std::vector<const FieldDescriptor*> set;
  parsed->GetReflection()->ListFields(*parsed, &set);
  for (const FieldDescriptor* other : set) {
    if (other != &field) return absl::InvalidArgumentError(absl::StrCat(where, ": one assignment sets one field"));
  }
  if (!read) return absl::InvalidArgumentError(absl::StrCat(where, ": must be ", Wanted(field), ", got '", value, "'"));
  message->GetReflection()->ClearField(message, &field);
  message->MergeFrom(*parsed);
  // proto3 drops a plain field that is set to its default: clearing was the assignment then.
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyOverride(const std::string& assignment, Message* message) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", assignment, "': must be path=value"));
  }
  const std::string path(absl::StripAsciiWhitespace(absl::string_view(assignment).substr(0, equals)));
  const std::string value(absl::StripAsciiWhitespace(absl::string_view(assignment).substr(equals + 1)));
  EIPC_ASSIGN_OR_RETURN(const std::vector<Part> parts, SplitPath(path));
  // Works on a copy: walking down makes absent messages present.
  const std::unique_ptr<Message> changed(message->New());
  changed->CopyFrom(*message);
  std::string where;
  EIPC_ASSIGN_OR_RETURN(Message* const holder, Descend(parts, changed.get(), &where));
  const Part& last = parts.back();
  absl::StrAppend(&where, parts.size() > 1 ? "." : "", last.field);
  const FieldDescriptor* field = holder->GetDescriptor()->FindFieldByName(last.field);
  if (field == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": no such field; there are: ", FieldNames(*holder->GetDescriptor())));
  }
  if (last.has_key) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": set a field of an element, or the list whole"));
  }
  EIPC_RETURN_IF_ERROR(SetField(*field, value, where, holder));
  message->GetReflection()->Swap(message, changed.get());
  return absl::OkStatus();
}

absl::Status ApplyOverrides(absl::Span<const std::string> assignments, Message* message) {
  for (const std::string& assignment : assignments) EIPC_RETURN_IF_ERROR(ApplyOverride(assignment, message));
  return absl::OkStatus();
}

}  // namespace eipc
