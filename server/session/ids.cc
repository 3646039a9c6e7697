#include "server/session/ids.h"

#include <random>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace eipc {

std::string RandomHex128() {
  std::random_device source;
  std::string text;
  for (int word = 0; word < 4; ++word) absl::StrAppendFormat(&text, "%08x", source());
  return text;
}

int64_t LeadingIndex(absl::string_view name, absl::string_view prefix) {
  if (!absl::ConsumePrefix(&name, prefix)) return -1;
  const size_t dash = name.find('-');
  // Nine digits fit; more would be a name that was never given.
  if (dash == absl::string_view::npos || dash == 0 || dash > 9) return -1;
  int64_t index = -1;
  return absl::SimpleAtoi(name.substr(0, dash), &index) ? index : -1;
}

std::string Printable(absl::string_view text) {
  std::string result;
  for (const char c : text.substr(0, 80)) result.push_back(c >= 0x20 && c < 0x7f ? c : '?');
  if (text.size() > 80) absl::StrAppend(&result, "...");
  return result;
}

}  // namespace eipc
