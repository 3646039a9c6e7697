#include "tests/conformance/scribbler.h"

#include <iterator>
#include <limits>

namespace eipc::testing {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void Scribbler::Fill(Message* message, int depth) {
  const auto* descriptor = message->GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    if (Chance(depth == 0 ? 2 : 3)) continue;
    if (field->is_map()) continue;
    const int count = field->is_repeated() ? static_cast<int>(random_() % 3) : 1;
    for (int k = 0; k < count; ++k) Set(message, field, depth);
  }
}

double Scribbler::Number() {
  static constexpr double kOdd[] = {0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.01,
                                    1e-3,
                                    1e308,
                                    -1e308,
                                    1e-320,
                                    std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN(),
                                    0.1,
                                    1000};
  return kOdd[random_() % std::size(kOdd)];
}

int64_t Scribbler::Integer() {
  static constexpr int64_t kOdd[] = {0,
                                     1,
                                     2,
                                     3,
                                     -1,
                                     7,
                                     100,
                                     std::numeric_limits<int32_t>::max(),
                                     std::numeric_limits<int32_t>::min(),
                                     std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min()};
  return kOdd[random_() % std::size(kOdd)];
}

std::string Scribbler::Text() {
  if (!names_.empty() && !Chance(3)) return names_[random_() % names_.size()];
  std::string text(random_() % 40, '\0');
  for (char& c : text) c = static_cast<char>(Chance(2) ? 'a' + random_() % 26 : random_());
  return text;
}

// Strings must be UTF-8 to travel.
std::string Scribbler::Utf8() {
  std::string text = Text();
  for (char& c : text) c = static_cast<char>(c & 0x7f);
  return text;
}

void Scribbler::Set(Message* message, const FieldDescriptor* field, int depth) {
  const Reflection& r = *message->GetReflection();
  const bool many = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return many ? r.AddDouble(message, field, Number()) : r.SetDouble(message, field, Number());
    case FieldDescriptor::CPPTYPE_INT32:
      return many ? r.AddInt32(message, field, static_cast<int32_t>(Integer()))
                  : r.SetInt32(message, field, static_cast<int32_t>(Integer()));
    case FieldDescriptor::CPPTYPE_INT64:
      return many ? r.AddInt64(message, field, Integer()) : r.SetInt64(message, field, Integer());
    case FieldDescriptor::CPPTYPE_UINT32:
      return r.SetUInt32(message, field, static_cast<uint32_t>(Integer()));
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.SetBool(message, field, Chance(2));
    case FieldDescriptor::CPPTYPE_ENUM:
      return many ? r.AddEnumValue(message, field, static_cast<int>(random_() % 9))
                  : r.SetEnumValue(message, field, static_cast<int>(random_() % 9));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = field->type() == FieldDescriptor::TYPE_BYTES ? Text() : Utf8();
      return many ? r.AddString(message, field, text) : r.SetString(message, field, text);
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      if (depth < 6) Fill(many ? r.AddMessage(message, field) : r.MutableMessage(message, field), depth + 1);
      return;
    default:
      return;
  }
}

void Scribbler::MutateOneField(Message* message) {
  for (int depth = 0; depth < 6; ++depth) {
    std::vector<const FieldDescriptor*> fields;
    message->GetReflection()->ListFields(*message, &fields);
    if (fields.empty()) break;
    const FieldDescriptor* field = fields[random_() % fields.size()];
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) break;
    if (!field->is_repeated()) {
      message = message->GetReflection()->MutableMessage(message, field);
    } else {
      const int size = message->GetReflection()->FieldSize(*message, field);
      message = message->GetReflection()->MutableRepeatedMessage(message, field, static_cast<int>(random_() % size));
    }
  }
  Fill(message, 5);
}

std::string Scribbler::Bytes(const Message& message) {
  std::string bytes = message.SerializePartialAsString();
  switch (random_() % 12) {
    case 0:  // flipped
      for (uint64_t flips = random_() % 8; !bytes.empty() && flips > 0; --flips) {
        bytes[random_() % bytes.size()] ^= static_cast<char>(1 << (random_() % 8));
      }
      return bytes;
    case 1:  // cut
      bytes.resize(bytes.empty() ? 0 : random_() % bytes.size());
      return bytes;
    case 2:  // never a message
      bytes.resize(random_() % 200);
      for (char& c : bytes) c = static_cast<char>(random_());
      return bytes;
    case 3:  // groups in groups, or fields in fields
      return bytes + std::string(1 + random_() % 20'000, Chance(2) ? '\x0b' : '\x0a');
    case 4:  // a field that claims 2^62 bytes
      return bytes + "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x3f" + bytes;
    case 5:  // text that is not UTF-8
      for (char& c : bytes) c = c >= 'a' && c <= 'z' && Chance(4) ? static_cast<char>(c | 0x80) : c;
      return bytes;
    case 6:  // twice
      return bytes + bytes;
    default:
      return bytes;
  }
}

}  // namespace eipc::testing
