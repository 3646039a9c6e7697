#ifndef EIPC_SERVER_RPC_SERVICE_H_
#define EIPC_SERVER_RPC_SERVICE_H_

#include <memory>

namespace grpc {
class Service;
}  // namespace grpc

namespace eipc {

struct Services;

namespace rpc {

class StreamSet;

// The gRPC face of the calls in calls.h: turns a server context into a budget and a status into gRPC's, and lets no exception out.
std::unique_ptr<grpc::Service> MakeSimulationService(Services* services, StreamSet* streams);

}  // namespace rpc
}  // namespace eipc

#endif  // EIPC_SERVER_RPC_SERVICE_H_
