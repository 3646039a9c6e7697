#ifndef EIPC_SERVER_RPC_LISTEN_CHECK_ADDRESSES_H_
#define EIPC_SERVER_RPC_LISTEN_CHECK_ADDRESSES_H_

#include "absl/status/status.h"
#include "server/rpc/listen/grpc_server.h"

namespace eipc::rpc {

// INVALID_ARGUMENT when the calls, or the metrics, would be served where anybody could reach them.
absl::Status CheckListen(const GrpcServerOptions& options);
absl::Status CheckMetrics(const GrpcServerOptions& options);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_CHECK_ADDRESSES_H_
