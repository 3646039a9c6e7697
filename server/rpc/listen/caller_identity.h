#ifndef EIPC_SERVER_RPC_LISTEN_CALLER_IDENTITY_H_
#define EIPC_SERVER_RPC_LISTEN_CALLER_IDENTITY_H_

#include <grpcpp/server_context.h>

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "server/session/access.h"

namespace eipc::rpc {

// The header in which the proxy names the owner of a certificate that it has verified.
inline constexpr char kClientCertKey[] = "x-eipc-client-cert";

// The header in which the proxy names the address of its client.
inline constexpr char kPeerKey[] = "x-eipc-peer";

// The value of a header that the client sent exactly once.
std::optional<absl::string_view> OnlyHeader(const grpc::ServerContextBase& context, const char* name);

// Who calls: by the token, or else, on a Unix socket, where only the proxy can connect, by the certificate that the proxy names.
std::optional<Caller> Identify(const AccessList& access, const grpc::ServerContextBase& context);

// Where the call comes from, for logs: on a Unix socket the address that the proxy names; otherwise that of the connection.
std::string PeerOf(const grpc::ServerContextBase& context);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_CALLER_IDENTITY_H_
