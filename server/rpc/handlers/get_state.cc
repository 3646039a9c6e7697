#include "server/convert/observation_convert.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/draw_cameras.h"
#include "server/rpc/handlers/session_setup.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status GetState(Services& services, const CallContext& context, const v1::GetStateRequest& request,
                      v1::Observation* response) {
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant, FifoGate::Use::kRead));
  session->Touch();
  EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan plan, ObservationPlan::Create(session->world().model(), request.observe()));
  EIPC_RETURN_IF_ERROR(context.ReserveAnswer(plan.MostBytes(session->world().model())));
  EIPC_RETURN_IF_ERROR(PrepareCameras(services, context, session, request.world(), plan));
  plan.Observe(session->world(request.world()), response);
  DrawCameras(services, context, session, request.world(), plan, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
