#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/step_world.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status Step(Services& services, const CallContext& context, const v1::StepRequest& request, v1::StepResponse* response) {
  response->set_session_step(-1);
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant));
  session->Touch();
  const absl::Status status = StepWorld(services, context, session, request, response);
  if (!session.removed()) session->CheckpointLogIfDue(session.name());
  return status;
}

}  // namespace eipc::rpc
