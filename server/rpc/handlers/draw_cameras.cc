#include "server/rpc/handlers/draw_cameras.h"

#include <algorithm>

#include "server/rpc/handlers/step_world.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status PrepareCameras(Services& services, const CallContext& context, const SessionRegistry::Lease& session, int world,
                            const ObservationPlan& plan) {
  if (plan.cameras().empty()) return absl::OkStatus();
  EIPC_RETURN_IF_ERROR(context.TakePictures(plan.cameras().MostBytes(*session->scene().model), &services.memory));
  return session->PrepareCameras(world, UntilRemoved(context.budget, session));
}

void DrawCameras(Services& services, const CallContext& context, const SessionRegistry::Lease& session, int world,
                 const ObservationPlan& plan, v1::Observation* out) {
  if (plan.cameras().empty()) return;
  const World& seen = session->world(world);
  const StepBudget budget = UntilRemoved(context.budget, session);
  // No slot is held while another thread draws the same world.
  const auto draw = [&](CameraScene* scene) -> absl::Status {
    EIPC_ASSIGN_OR_RETURN(const SolveSlots::Slot slot, services.slots.Take(context.claim(), budget));
    EIPC_RETURN_IF_ERROR(scene->Follow(seen));
    ThreadPool pool(std::max(1, session->options().threads));
    Interrupt interrupt;
    const Interrupt::Watch watch(&interrupt, [&budget] { return budget.Poll(); });
    return plan.cameras().Draw(seen.model(), *scene, &pool, &interrupt, out);
  };
  const absl::Status status = session->cameras().Draw(world, budget, draw);
  if (!status.ok() && !out->has_cameras()) plan.cameras().Refuse(seen.model(), status, out);
}

}  // namespace eipc::rpc
