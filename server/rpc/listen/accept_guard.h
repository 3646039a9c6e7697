#ifndef EIPC_SERVER_RPC_LISTEN_ACCEPT_GUARD_H_
#define EIPC_SERVER_RPC_LISTEN_ACCEPT_GUARD_H_

#include <cstdint>

namespace eipc::rpc {

// gRPC 1.51 listens no more, for good, once accept4 has failed because no descriptor was left (CVE-2023-4785). Programs in which
// this is called have an accept4 of their own, which gRPC's shared library finds before libc's: it closes such connections at once
// instead. Their clients see that the server is UNAVAILABLE, and those that come when there are descriptors again are served.
void GuardAccepts();

// Connections that were closed in this way.
int64_t ConnectionsWithoutDescriptor();

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_ACCEPT_GUARD_H_
