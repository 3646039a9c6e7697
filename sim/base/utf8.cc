#include "sim/base/utf8.h"

namespace eipc {
namespace {

struct Form {
  unsigned char first_low, first_high;    // of the first byte
  unsigned char second_low, second_high;  // of the second; those after it are 0x80 to 0xbf
  size_t bytes;
};

// The Unicode Standard, table 3-7.
constexpr Form kForms[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
                           {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                           {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};

bool Between(char c, unsigned char low, unsigned char high) {
  const unsigned char byte = static_cast<unsigned char>(c);
  return byte >= low && byte <= high;
}

}  // namespace

size_t Utf8CharacterBytes(absl::string_view text) {
  if (text.empty()) return 0;
  if (Between(text[0], 0, 0x7f)) return 1;
  for (const Form& form : kForms) {
    if (!Between(text[0], form.first_low, form.first_high)) continue;
    if (text.size() < form.bytes || !Between(text[1], form.second_low, form.second_high)) return 0;
    for (size_t k = 2; k < form.bytes; ++k) {
      if (!Between(text[k], 0x80, 0xbf)) return 0;
    }
    return form.bytes;
  }
  return 0;
}

std::string ToUtf8(absl::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = Utf8CharacterBytes(text);
    if (bytes == 0) {
      result.push_back('?');
    } else {
      result.append(text.data(), bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

}  // namespace eipc
