#ifndef EIPC_TESTS_SERVER_RPC_HANDLERS_MUST_H_
#define EIPC_TESTS_SERVER_RPC_HANDLERS_MUST_H_

#include <gtest/gtest.h>

#include "server/rpc/handlers/calls.h"

namespace eipc::rpc {

// The response of a call that must succeed.
template <typename Request, typename Response>
Response Must(Services& services, absl::Status (*call)(Services&, const CallContext&, const Request&, Response*),
              const Request& request) {
  Response response;
  const absl::Status status = call(services, {}, request, &response);
  EXPECT_TRUE(status.ok()) << status;
  return response;
}

}  // namespace eipc::rpc

#endif  // EIPC_TESTS_SERVER_RPC_HANDLERS_MUST_H_
