#ifndef EIPC_SERVER_RPC_LISTEN_SERVICE_H_
#define EIPC_SERVER_RPC_LISTEN_SERVICE_H_

#include <memory>

#include "server/rpc/telemetry/audit_log.h"
#include "server/rpc/telemetry/event.h"
#include "server/session/access.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace eipc {

struct Services;

namespace rpc {

class StreamSet;

// What stands between gRPC and the calls.
struct ServiceOptions {
  Services* services = nullptr;
  StreamSet* streams = nullptr;
  // Who may call; null: everyone, as one tenant without a name.
  std::shared_ptr<const AccessSource> access;
  EventSink events;           // may be empty
  AuditLog* audit = nullptr;  // may be null
};

// The gRPC face of the calls in calls.h: tells who calls, turns a server context into a call context and a status into gRPC's,
// counts and logs, and lets no exception out.
std::unique_ptr<grpc::Service> MakeSimulationService(ServiceOptions options);

}  // namespace rpc
}  // namespace eipc

#endif  // EIPC_SERVER_RPC_LISTEN_SERVICE_H_
