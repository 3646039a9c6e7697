#ifndef EIPC_SIM_BASE_UTF8_H_
#define EIPC_SIM_BASE_UTF8_H_

#include <string>

#include "absl/strings/string_view.h"

namespace eipc {

// Bytes of the well-formed UTF-8 character that `text` begins with (no overlong forms, no surrogates, at most U+10FFFF); 0 when it
// begins with none.
size_t Utf8CharacterBytes(absl::string_view text);

// The text with a question mark for each byte that belongs to no well-formed character. Protocol messages must hold nothing else.
std::string ToUtf8(absl::string_view text);

}  // namespace eipc

#endif  // EIPC_SIM_BASE_UTF8_H_
