#include "server/session/ids.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace eipc {

std::string RandomHex128() {
  std::random_device source;
  std::string text;
  for (int word = 0; word < 4; ++word) absl::StrAppendFormat(&text, "%08x", source());
  return text;
}

std::string Printable(absl::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 80)) result.push_back(c >= 0x20 && c < 0x7f ? c : '?');
  if (text.size() > 80) absl::StrAppend(&result, "...");
  return result;
}

}  // namespace eipc
