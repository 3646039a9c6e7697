#ifndef EIPC_SERVER_PROXY_CONFIG_H_
#define EIPC_SERVER_PROXY_CONFIG_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "server/rpc/listen/grpc_server.h"

namespace eipc {

// HAProxy in front of the server: what clients connect to when they are not on the server's machine (docs/howto/operations.md,
// Proxy).
struct ProxyOptions {
  // "HOST:PORT". Plain HTTP/2 on loopback, TLS elsewhere.
  std::string listen = "127.0.0.1:50051";
  // PEM file: certificate chain and private key, or the chain alone as NAME.crt with the key beside it as NAME.key.
  std::string certificate;
  // PEM file: authorities that client certificates are checked against.
  std::string client_ca;
  // "HOST:PORT" of /healthz, /livez and /metrics over HTTP/1; empty: none.
  std::string health;
  // Path of eipc-server-messages.lua, which ends calls with messages that are too long. Empty: beside this program.
  std::string message_filter;
  int max_connections = 1024;
  // The following are bounds of one client address: an IPv4 address, or a network of 64 bits of IPv6.
  int max_connections_per_address = 256;
  int connections_per_second = 200;
  int calls_per_second = 10000;
  int unanswered_calls_per_second = 1000;
  int max_calls_per_address = 1024;
  // A connection that has not sent a request by then is closed.
  std::chrono::milliseconds handshake_timeout{10000};
  // A call on which the server has sent nothing for so long is ended: an idle stream, or one that computes without an answer. How
  // long a client may leave an answer unread is the server's write_timeout.
  std::chrono::milliseconds idle_timeout{3600000};
};

// The configuration of HAProxy 2.6 for a server with these options. INVALID_ARGUMENT for an address that may not be served so: off
// loopback, TLS is needed and callers must be known; the server must listen on a Unix socket, or on loopback when no client
// certificates are asked for; and health checks that need credentials go with no health port.
absl::StatusOr<std::string> ProxyConfiguration(const ProxyOptions& proxy, const rpc::GrpcServerOptions& server);

}  // namespace eipc

#endif  // EIPC_SERVER_PROXY_CONFIG_H_
