#ifndef EIPC_SERVER_RPC_LISTEN_LISTEN_ADDRESS_H_
#define EIPC_SERVER_RPC_LISTEN_LISTEN_ADDRESS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace eipc::rpc {

// Where the server listens: a TCP port of the loopback interface, or a Unix socket.
struct ListenAddress {
  std::string host;  // as given, brackets of IPv6 included; empty for a Unix socket
  int port = 0;
  bool loopback = false;  // 127.x.y.z, [::1] or localhost: no other machine can reach it
  std::string path;       // of the Unix socket; empty for TCP
};

// "HOST:PORT" or "unix:PATH". INVALID_ARGUMENT otherwise.
absl::StatusOr<ListenAddress> ParseListenAddress(const std::string& text);

// Makes the folder of a Unix socket (mode 0700) if it is missing, and removes a socket that a dead server left there.
// INVALID_ARGUMENT when the folder is not ours alone (another owner, or any permission for others: a process that may connect may
// say on whose behalf), or when the path exists and is no socket. UNAVAILABLE when a server listens there.
absl::Status PrepareUnixSocket(const std::string& path);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_LISTEN_ADDRESS_H_
