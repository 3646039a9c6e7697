#include "server/session/access.h"

#include <openssl/evp.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/session/files.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

absl::Status Problem(int line, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", text));
}

bool IsHex64(absl::string_view text) {
  if (text.size() != 64) return false;
  for (const char c : text) {
    if (!absl::ascii_isxdigit(c)) return false;
  }
  return true;
}

}  // namespace

std::string Sha256Hex(absl::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int bytes = 0;
  EVP_Digest(text.data(), text.size(), digest, &bytes, EVP_sha256(), nullptr);
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), bytes));
}

absl::StatusOr<AccessList> AccessList::Parse(absl::string_view text) {
  AccessList list;
  int number = 0;
  for (const absl::string_view raw : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.size() != 4) return Problem(number, "must be: token|cert KEY TENANT viewer|operator");
    if (words[3] != "viewer" && words[3] != "operator") return Problem(number, "the role must be viewer or operator");
    const Caller caller = {words[2], words[3] == "viewer" ? Role::kViewer : Role::kOperator};
    if (words[0] == "token") {
      if (!IsHex64(words[1])) return Problem(number, "a token is given by its SHA-256 in 64 hex digits, never itself");
      list.tokens_[absl::AsciiStrToLower(words[1])] = caller;
    } else if (words[0] == "cert") {
      list.certificates_[words[1]] = caller;
    } else {
      return Problem(number, "must begin with token or cert");
    }
  }
  return list;
}

absl::StatusOr<AccessList> AccessList::Load(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadWholeFile(path);
  if (!text.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  absl::StatusOr<AccessList> list = Parse(*text);
  if (!list.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", list.status().message()));
  if (list->empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": lets nobody in"));
  return list;
}

std::optional<Caller> AccessList::ByToken(absl::string_view token) const {
  const auto found = tokens_.find(Sha256Hex(token));
  return found == tokens_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Caller> AccessList::ByCertificate(absl::string_view name) const {
  const auto found = certificates_.find(std::string(name));
  return found == certificates_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace eipc
