#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/convert/observation_convert.h"
#include "server/convert/step_convert.h"
#include "server/rpc/calls.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

// The caller's budget, and the session's being deleted.
StepBudget UntilRemoved(const StepBudget& budget, const SessionRegistry::Lease& session) {
  StepBudget both;
  both.deadline = budget.deadline;
  both.cancelled = [&budget, &session] { return session.removed() || (budget.cancelled && budget.cancelled()); };
  return both;
}

}  // namespace

absl::Status Step(Services& services, const StepBudget& budget, const v1::StepRequest& request, v1::StepResponse* response) {
  response->set_session_step(-1);
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session, services.sessions.Acquire(request.session(), budget));
  response->set_session_step(session->world().state().step);

  const std::string key = request.request_id().empty() ? std::string() : request.SerializeAsString();
  EIPC_ASSIGN_OR_RETURN(const std::string* finished, session->retries().Find(request.request_id(), key));
  if (finished != nullptr) {
    return response->ParseFromString(*finished) ? absl::OkStatus() : absl::InternalError("the stored response cannot be read back");
  }

  const Model& model = session->world().model();
  EIPC_ASSIGN_OR_RETURN(const StepOrder order, StepOrderFromProto(model, request, services.limits.max_substeps));
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan plan, ObservationPlan::Create(model, request.observe()));
  const StepCommand command = {order.input, order.substeps, order.expected_step};
  const absl::Status status = session->Step(command, UntilRemoved(budget, session), &services.slots);
  response->set_session_step(session->world().state().step);
  if (session.removed()) return absl::CancelledError("SESSION_DELETED: the session was deleted during the step");
  EIPC_RETURN_IF_ERROR(status);

  plan.Observe(session->world(), response->mutable_observation());
  session->retries().Remember(request.request_id(), key,
                              request.request_id().empty() ? std::string() : response->SerializeAsString());
  return absl::OkStatus();
}

}  // namespace eipc::rpc
