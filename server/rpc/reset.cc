#include "server/convert/observation_convert.h"
#include "server/rpc/calls.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status Reset(Services& services, const StepBudget& budget, const v1::ResetRequest& request, v1::Observation* response) {
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session, services.sessions.Acquire(request.session(), budget));
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan plan, ObservationPlan::Create(session->world().model(), request.observe()));
  session->Reset();
  plan.Observe(session->world(), response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
