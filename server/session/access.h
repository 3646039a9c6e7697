#ifndef EIPC_SERVER_SESSION_ACCESS_H_
#define EIPC_SERVER_SESSION_ACCESS_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace eipc {

// What a caller may do: read, or everything.
enum class Role { kViewer, kOperator };

const char* RoleName(Role role);

struct Caller {
  std::string tenant;
  Role role = Role::kOperator;
  // Which line of the access file let the caller in, without anything secret: "token:" and the token's SHA-256 in hex, or "cert:"
  // and the name in the certificate. Empty where callers are not distinguished.
  std::string identity = {};
};

// Who may call, from a file of lines
//
//   token SHA256-OF-THE-TOKEN-IN-HEX TENANT ROLE
//   cert  NAME-IN-THE-CERTIFICATE    TENANT ROLE
//
// with ROLE viewer or operator; empty lines and lines that begin with # count for nothing. Tokens are never kept or written, only
// their hashes.
class AccessList {
 public:
  // INVALID_ARGUMENT names the line.
  static absl::StatusOr<AccessList> Parse(absl::string_view text);
  static absl::StatusOr<AccessList> Load(const std::string& path);

  std::optional<Caller> ByToken(absl::string_view token) const;
  // A subject alternative name or the common name of a certificate that has been verified.
  std::optional<Caller> ByCertificate(absl::string_view name) const;
  // Whether the list still lets this caller in, as the same tenant in the same role.
  bool StillKnows(const Caller& caller) const;
  bool empty() const { return tokens_.empty() && certificates_.empty(); }
  bool has_tokens() const { return !tokens_.empty(); }
  // How many tenants it names.
  int tenant_count() const;

 private:
  std::map<std::string, Caller> tokens_;  // by SHA-256, hex: the time of a look-up reveals nothing about tokens
  std::map<std::string, Caller> certificates_;
};

// The access list in force: read again while the server runs, without a call in between that would see half of it. Thread-safe.
class AccessSource {
 public:
  // INVALID_ARGUMENT as AccessList::Load.
  static absl::StatusOr<std::shared_ptr<AccessSource>> Open(const std::string& path);

  // Never null. A list that a call has taken stays as it is.
  std::shared_ptr<const AccessList> Get() const;
  // Reads the file again. When it cannot be read or is wrong, the list in force stays.
  absl::Status Reload();

 private:
  AccessSource(std::string path, AccessList list);

  const std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const AccessList> list_;  // guarded by mutex_
};

// Whether a caller that was admitted still is, for streams that outlive a reload. By one thread.
class Admission {
 public:
  // `source` null: everyone may.
  Admission(std::shared_ptr<const AccessSource> source, Caller caller) : source_(std::move(source)), caller_(std::move(caller)) {}
  // Cheap as long as nothing has been read again.
  bool StillIn();

 private:
  const std::shared_ptr<const AccessSource> source_;
  const Caller caller_;
  std::shared_ptr<const AccessList> asked_;  // the last list that was asked; none yet
};

// SHA-256 as 64 hex digits.
std::string Sha256Hex(absl::string_view text);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_ACCESS_H_
