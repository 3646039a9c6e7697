#ifndef EIPC_SERVER_RPC_LISTEN_LISTEN_ADDRESS_H_
#define EIPC_SERVER_RPC_LISTEN_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/statusor.h"

namespace eipc::rpc {

struct ListenAddress {
  std::string host;  // as given, brackets of IPv6 included
  int port = 0;
  bool loopback = false;  // 127.x.y.z, [::1] or localhost: nobody else can reach it
};

// "HOST:PORT". INVALID_ARGUMENT otherwise.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_LISTEN_ADDRESS_H_
