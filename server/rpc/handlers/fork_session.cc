#include <utility>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/session_setup.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status ForkSession(Services& services, const CallContext& context, const v1::ForkSessionRequest& request,
                         v1::SessionInfo* response) {
  EIPC_ASSIGN_OR_RETURN(SessionOrder order, OrderOf(services.limits, request));
  {
    EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                          services.sessions.Acquire(request.session(), context.budget, context.tenant));
    session->Touch();
    EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
    order.scene = session->scene_name();
    order.start = session->world(request.world()).state();
    order.migrated_from_build = session->migrated_from_build();
  }
  return MakeSession(services, context, std::move(order), response);
}

}  // namespace eipc::rpc
