#include <utility>

#include "server/rpc/calls.h"
#include "server/rpc/session_setup.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status ForkSession(Services& services, const CallContext& context, const v1::ForkSessionRequest& request,
                         v1::SessionInfo* response) {
  SessionOrder order;
  order.threads = request.threads();
  order.worlds = request.worlds();
  order.record = request.record();
  order.idle_timeout_s = request.idle_timeout_s();
  EIPC_RETURN_IF_ERROR(CheckSessionOrder(services.limits, &order));
  {
    EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                          services.sessions.Acquire(request.session(), context.budget, context.tenant));
    session->Touch();
    EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
    order.scene = session->scene_name();
    order.start = session->world(request.world()).state();
  }
  return MakeSession(services, context, std::move(order), response);
}

}  // namespace eipc::rpc
