#include "server/convert/observation_convert.h"
#include "server/convert/placement_convert.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/draw_cameras.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/rpc/handlers/step_world.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {
namespace {

// Each draw takes a slot of its own, as a step does: the exact check of a large scene is work.
absl::StatusOr<State> FindStart(Services& services, const CallContext& context, const SessionRegistry::Lease& session,
                                StartDraws draws) {
  const StepBudget budget = UntilRemoved(context.budget, session);
  while (draws.Left()) {
    if (session.removed()) return absl::CancelledError("SESSION_DELETED: the session was deleted during the reset");
    EIPC_RETURN_IF_ERROR(budget.Poll());
    EIPC_ASSIGN_OR_RETURN(const SolveSlots::Slot slot, services.slots.Take(context.claim(), budget));
    if (std::optional<State> start = draws.Next()) return *std::move(start);
  }
  return draws.Failure();
}

// What is answered: materials unasked where any are given or drawn.
v1::ObservationRequest ObserveOf(const v1::ResetRequest& request) {
  v1::ObservationRequest observe = request.observe();
  if (request.materials_size() > 0 || request.randomize().materials_size() > 0) observe.set_materials(true);
  return observe;
}

}  // namespace

absl::Status Reset(Services& services, const CallContext& context, const v1::ResetRequest& request, v1::Observation* response) {
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant));
  session->Touch();
  EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan plan, ObservationPlan::Create(session->world().model(), ObserveOf(request)));
  EIPC_RETURN_IF_ERROR(context.ReserveAnswer(plan.MostBytes(session->world().model())));
  EIPC_RETURN_IF_ERROR(PrepareCameras(services, context, session, request.world(), plan));
  const Model& model = *session->scene().model;
  EIPC_ASSIGN_OR_RETURN(const std::optional<StartOrder> order, StartOrderFromProto(model, request));
  if (order) {
    EIPC_ASSIGN_OR_RETURN(const State start, FindStart(services, context, session, StartDraws(&model, *order)));
    EIPC_RETURN_IF_ERROR(session->Restore(request.world(), start));
  } else {
    EIPC_RETURN_IF_ERROR(session->Reset(request.world()));
  }
  session->CheckpointLogIfDue(session.name());
  services.feeds.Publish(session.name(), request.world(), session->world(request.world()));
  plan.Observe(session->world(request.world()), response);
  DrawCameras(services, context, session, request.world(), plan, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
