#include "server/session/access.h"

#include <openssl/evp.h>

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/os/files.h"
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

// No key twice: which line counts would be anybody's guess.
absl::Status Enter(int line, const std::string& key, Caller caller, absl::string_view kind,
                   std::map<std::string, Caller>* callers) {
  caller.identity = absl::StrCat(kind, ":", key);
  if (callers->emplace(key, std::move(caller)).second) return absl::OkStatus();
  return Problem(line, absl::StrCat("the same ", kind, " is in an earlier line; leave one of them out"));
}

}  // namespace

const char* RoleName(Role role) { return role == Role::kViewer ? "viewer" : "operator"; }

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
      EIPC_RETURN_IF_ERROR(Enter(number, absl::AsciiStrToLower(words[1]), caller, "token", &list.tokens_));
    } else if (words[0] == "cert") {
      EIPC_RETURN_IF_ERROR(Enter(number, words[1], caller, "cert", &list.certificates_));
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

int AccessList::tenant_count() const {
  std::set<std::string> tenants;
  for (const auto& [token, caller] : tokens_) tenants.insert(caller.tenant);
  for (const auto& [name, caller] : certificates_) tenants.insert(caller.tenant);
  return static_cast<int>(tenants.size());
}

std::optional<Caller> AccessList::ByToken(absl::string_view token) const {
  const auto found = tokens_.find(Sha256Hex(token));
  return found == tokens_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Caller> AccessList::ByCertificate(absl::string_view name) const {
  const auto found = certificates_.find(std::string(name));
  return found == certificates_.end() ? std::nullopt : std::optional(found->second);
}

bool AccessList::StillKnows(const Caller& caller) const {
  const auto [kind, key] = std::pair<std::string, std::string>(absl::StrSplit(caller.identity, absl::MaxSplits(':', 1)));
  const std::map<std::string, Caller>& callers = kind == "token" ? tokens_ : certificates_;
  const auto found = callers.find(key);
  return found != callers.end() && found->second.tenant == caller.tenant && found->second.role == caller.role;
}

bool Admission::StillIn() {
  if (source_ == nullptr) return true;
  std::shared_ptr<const AccessList> now = source_->Get();
  if (now == asked_) return true;
  if (!now->StillKnows(caller_)) return false;
  asked_ = std::move(now);
  return true;
}

AccessSource::AccessSource(std::string path, AccessList list)
    : path_(std::move(path)), list_(std::make_shared<const AccessList>(std::move(list))) {}

absl::StatusOr<std::shared_ptr<AccessSource>> AccessSource::Open(const std::string& path) {
  EIPC_ASSIGN_OR_RETURN(AccessList list, AccessList::Load(path));
  return std::shared_ptr<AccessSource>(new AccessSource(path, std::move(list)));
}

std::shared_ptr<const AccessList> AccessSource::Get() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return list_;
}

absl::Status AccessSource::Reload() {
  EIPC_ASSIGN_OR_RETURN(AccessList list, AccessList::Load(path_));
  auto fresh = std::make_shared<const AccessList>(std::move(list));
  const std::lock_guard<std::mutex> lock(mutex_);
  list_ = std::move(fresh);
  return absl::OkStatus();
}

}  // namespace eipc
