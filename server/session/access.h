#ifndef EIPC_SERVER_SESSION_ACCESS_H_
#define EIPC_SERVER_SESSION_ACCESS_H_

#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace eipc {

// What a caller may do: look, or everything.
enum class Role { kViewer, kOperator };

struct Caller {
  std::string tenant;
  Role role = Role::kOperator;
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
  bool empty() const { return tokens_.empty() && certificates_.empty(); }
  bool has_tokens() const { return !tokens_.empty(); }

 private:
  std::map<std::string, Caller> tokens_;  // by SHA-256, hex: a look-up tells nothing about tokens by its time
  std::map<std::string, Caller> certificates_;
};

// SHA-256 as 64 hex digits.
std::string Sha256Hex(absl::string_view text);

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_ACCESS_H_
