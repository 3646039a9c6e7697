#include "sim/robot/xml_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace eipc {
namespace {

constexpr size_t kMostBytes = 64 << 20;
constexpr int kMostNested = 100;  // TinyXML calls itself once for each level

// Where a tag ends; a '>' in quotes does not end it.
size_t TagEnd(absl::string_view tag) {
  char quote = 0;
  for (size_t k = 0; k < tag.size(); ++k) {
    if (quote != 0) {
      if (tag[k] == quote) quote = 0;
    } else if (tag[k] == '"' || tag[k] == '\'') {
      quote = tag[k];
    } else if (tag[k] == '>') {
      return k;
    }
  }
  return absl::string_view::npos;
}

// How many elements are open at once, by the tags alone.
int DeepestNesting(absl::string_view text) {
  int open = 0, deepest = 0;
  for (size_t at = text.find('<'); at != absl::string_view::npos; at = text.find('<', at + 1)) {
    const absl::string_view rest = text.substr(at);
    const std::pair<absl::string_view, absl::string_view> skipped[] = {
        {"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}, {"<!", ">"}};
    const auto* skip =
        std::find_if(std::begin(skipped), std::end(skipped), [&](const auto& s) { return absl::StartsWith(rest, s.first); });
    if (skip != std::end(skipped)) {
      const size_t end = rest.find(skip->second);
      if (end == absl::string_view::npos) break;
      at += end;
      continue;
    }
    if (absl::StartsWith(rest, "</")) {
      --open;
      continue;
    }
    const size_t end = TagEnd(rest);
    if (end == absl::string_view::npos) break;
    deepest = std::max(deepest, open + 1);
    if (rest[end - 1] != '/') ++open;
    at += end;
  }
  return deepest;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TiXmlDocument>> ParseXml(const std::string& text, const std::string& file) {
  const auto refuse = [&](const auto&... why) { return absl::InvalidArgumentError(absl::StrCat(file, why...)); };
  if (text.size() > kMostBytes) return refuse(": has ", text.size(), " bytes; a robot description has at most ", kMostBytes);
  if (text.find('\0') != std::string::npos) return refuse(": holds a byte 0, so it is no XML");
  if (DeepestNesting(text) > kMostNested) return refuse(": its elements are nested more than ", kMostNested, " deep");
  auto document = std::make_unique<TiXmlDocument>();
  document->Parse(text.c_str());
  if (document->Error()) return refuse(":", document->ErrorRow(), ": is no XML: ", document->ErrorDesc());
  return document;
}

}  // namespace eipc
