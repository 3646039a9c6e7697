#ifndef EIPC_SERVER_RPC_LISTEN_ADDRESS_H_
#define EIPC_SERVER_RPC_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace eipc::rpc {

struct ListenAddress {
  std::string host;  // as given, brackets of IPv6 included
  int port = 0;
};

// "HOST:PORT" with a loopback host: 127.x.y.z, [::1] or localhost. INVALID_ARGUMENT otherwise: without credentials, nothing else
// may reach the server.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_ADDRESS_H_
