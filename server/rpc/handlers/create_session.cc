#include <utility>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/session/snapshot.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

namespace {

void StartFrom(Snapshot snapshot, SessionOrder* order) {
  order->start = std::move(snapshot.state);
  order->migrated_from_build = std::move(snapshot.migrated_from_build);
}

}  // namespace

absl::Status CreateSession(Services& services, const CallContext& context, const v1::CreateSessionRequest& request,
                           v1::SessionInfo* response) {
  EIPC_ASSIGN_OR_RETURN(SessionOrder order, OrderOf(services.limits, request));
  order.scene = request.scene();
  EIPC_RETURN_IF_ERROR(services.CheckOpen());
  EIPC_ASSIGN_OR_RETURN(const SceneRegistry::ScenePtr scene, services.scenes.Find(order.scene, context.tenant));
  RequestMemory memory(&services.memory, "reading the snapshot");
  if (request.has_snapshot()) {
    EIPC_ASSIGN_OR_RETURN(Snapshot snapshot, StateOfSnapshot(services, context, request.snapshot(), *scene, &memory));
    StartFrom(std::move(snapshot), &order);
  } else if (request.has_snapshot_data()) {
    EIPC_ASSIGN_OR_RETURN(Snapshot snapshot, StateOfForeignSnapshot(request.snapshot_data(), *scene, &memory));
    StartFrom(std::move(snapshot), &order);
  }
  if (!request.validate_only()) return MakeSession(services, context, std::move(order), response);
  EIPC_RETURN_IF_ERROR(services.sessions.CheckRoom());
  EIPC_RETURN_IF_ERROR(services.quotas.Check(context.tenant, Resource::kSessions));
  EIPC_RETURN_IF_ERROR(services.memory.Take(EstimateSessionBytes(*scene->model, order.worlds), "the session").status());
  response->set_scene(scene->name);
  response->set_worlds(order.worlds);
  response->set_threads(order.threads);
  response->set_recording(order.record);
  response->set_idle_timeout_s(order.idle_timeout_s);
  response->set_migrated_from_build(order.migrated_from_build);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
