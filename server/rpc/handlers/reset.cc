#include "server/convert/observation_convert.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/session_setup.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status Reset(Services& services, const CallContext& context, const v1::ResetRequest& request, v1::Observation* response) {
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant));
  session->Touch();
  EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan plan, ObservationPlan::Create(session->world().model(), request.observe()));
  EIPC_RETURN_IF_ERROR(context.ReserveAnswer(plan.MostBytes(session->world().model())));
  EIPC_RETURN_IF_ERROR(session->Reset(request.world()));
  session->CheckpointLogIfDue(session.name());
  plan.Observe(session->world(request.world()), response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
