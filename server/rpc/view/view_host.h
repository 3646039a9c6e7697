#ifndef EIPC_SERVER_RPC_VIEW_VIEW_HOST_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_HOST_H_

#include <functional>
#include <string>

#include "server/rpc/handlers/services.h"
#include "server/rpc/telemetry/audit_log.h"
#include "server/rpc/telemetry/event.h"

namespace eipc::rpc {

// What the viewer works with; outlives it.
struct ViewHost {
  Services* services = nullptr;
  AuditLog* audit = nullptr;  // may be null
  EventSink events;           // may be empty
  // There is an access file, so that roles say something.
  bool identified = false;
  // Runs work on a thread of the calls, among them and within the bounds of the tenant, now or when its turn comes; false: there is
  // no thread.
  std::function<bool(const std::string& tenant, std::function<void()> work)> run;
  std::function<bool()> draining;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_HOST_H_
