#ifndef EIPC_SERVER_RPC_HANDLERS_SESSION_SETUP_H_
#define EIPC_SERVER_RPC_HANDLERS_SESSION_SETUP_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "eipc/v1/service.pb.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"
#include "server/session/snapshot.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

// What a new session should be, wherever its first state comes from.
struct SessionOrder {
  std::string scene;
  int worlds = 1;
  int threads = 1;
  bool record = false;
  double idle_timeout_s = 0;
  std::optional<State> start;       // default: the scene's
  std::string migrated_from_build;  // that took the start, when it is another
};

// Checks its numbers; 0 becomes the default. INVALID_ARGUMENT names the field.
absl::Status CheckSessionOrder(const ServerLimits& limits, SessionOrder* order);

// What every request that makes a session says about it.
template <typename Request>
absl::StatusOr<SessionOrder> OrderOf(const ServerLimits& limits, const Request& request) {
  SessionOrder order;
  order.threads = request.threads();
  order.worlds = request.worlds();
  order.record = request.record();
  order.idle_timeout_s = request.idle_timeout_s();
  EIPC_RETURN_IF_ERROR(CheckSessionOrder(limits, &order));
  return order;
}

// Makes the session, logged as asked, and describes it.
absl::Status MakeSession(Services& services, const CallContext& context, SessionOrder order, v1::SessionInfo* response);

void FillSessionInfo(const std::string& name, const Session& session, v1::SessionInfo* out);

// INVALID_ARGUMENT unless the session has such a world.
absl::Status CheckWorld(const Session& session, int world);

// The state in a snapshot that a request names, or in one that it carries. What reading it takes is asked of `memory`, which should
// live as long as the state.
absl::StatusOr<Snapshot> StateOfSnapshot(Services& services, const CallContext& context, const std::string& name,
                                         const StoredScene& scene, RequestMemory* memory);
absl::StatusOr<Snapshot> StateOfForeignSnapshot(const std::string& data, const StoredScene& scene, RequestMemory* memory);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_SESSION_SETUP_H_
