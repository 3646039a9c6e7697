#include <utility>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/session/snapshot.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status CreateSession(Services& services, const CallContext& context, const v1::CreateSessionRequest& request,
                           v1::SessionInfo* response) {
  EIPC_ASSIGN_OR_RETURN(SessionOrder order, OrderOf(services.limits, request));
  order.scene = request.scene();
  EIPC_ASSIGN_OR_RETURN(const SceneRegistry::ScenePtr scene, services.scenes.Find(order.scene, context.tenant));
  if (request.has_snapshot()) {
    EIPC_ASSIGN_OR_RETURN(order.start, StateOfSnapshot(services, context, request.snapshot(), *scene));
  } else if (request.has_snapshot_data()) {
    EIPC_ASSIGN_OR_RETURN(order.start, UnpackForeignSnapshot(request.snapshot_data(), scene->name, *scene->model));
  }
  if (!request.validate_only()) return MakeSession(services, context, std::move(order), response);
  EIPC_RETURN_IF_ERROR(services.sessions.CheckRoom());
  EIPC_RETURN_IF_ERROR(services.memory.Take(EstimateSessionBytes(*scene->model, order.worlds), "the session").status());
  response->set_scene(scene->name);
  response->set_worlds(order.worlds);
  response->set_threads(order.threads);
  response->set_recording(order.record);
  response->set_idle_timeout_s(order.idle_timeout_s);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
