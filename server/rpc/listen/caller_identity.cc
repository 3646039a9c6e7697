#include "server/rpc/listen/caller_identity.h"

#include <iterator>

#include "absl/strings/match.h"
#include "server/session/ids.h"

namespace eipc::rpc {
namespace {

constexpr size_t kMaxPeer = 64;

// The folder of a Unix socket is the server's user's alone, so the proxy's words count there. Over TCP anybody can send its
// headers.
bool FromProxy(const grpc::ServerContextBase& context) { return absl::StartsWith(context.peer(), "unix:"); }

}  // namespace

std::optional<absl::string_view> OnlyHeader(const grpc::ServerContextBase& context, const char* name) {
  const auto range = context.client_metadata().equal_range(name);
  if (range.first == range.second || std::next(range.first) != range.second) return std::nullopt;
  return absl::string_view(range.first->second.data(), range.first->second.size());
}

std::optional<Caller> Identify(const AccessList& access, const grpc::ServerContextBase& context) {
  if (context.client_metadata().count("authorization") > 0) {
    std::optional<absl::string_view> value = OnlyHeader(context, "authorization");
    constexpr absl::string_view kBearer = "Bearer ";
    if (!value || !absl::StartsWithIgnoreCase(*value, kBearer)) return std::nullopt;
    value->remove_prefix(kBearer.size());
    return access.ByToken(*value);
  }
  if (!FromProxy(context)) return std::nullopt;
  const std::optional<absl::string_view> name = OnlyHeader(context, kClientCertKey);
  if (!name) return std::nullopt;
  return access.ByCertificate(*name);
}

std::string PeerOf(const grpc::ServerContextBase& context) {
  const std::optional<absl::string_view> named = FromProxy(context) ? OnlyHeader(context, kPeerKey) : std::nullopt;
  return named ? Printable(named->substr(0, kMaxPeer)) : context.peer();
}

}  // namespace eipc::rpc
