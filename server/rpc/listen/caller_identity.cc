#include "server/rpc/listen/caller_identity.h"

#include <iterator>

#include "absl/strings/match.h"

namespace eipc::rpc {

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
  if (!absl::StartsWith(context.peer(), "unix:")) return std::nullopt;
  const std::optional<absl::string_view> name = OnlyHeader(context, kClientCertKey);
  if (!name) return std::nullopt;
  return access.ByCertificate(*name);
}

}  // namespace eipc::rpc
