#include "server/convert/observation_convert.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/draw_cameras.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/session/snapshot.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status RestoreSession(Services& services, const CallContext& context, const v1::RestoreSessionRequest& request,
                            v1::Observation* response) {
  EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                        services.sessions.Acquire(request.session(), context.budget, context.tenant));
  session->Touch();
  EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
  const StoredScene& scene = session->scene();
  EIPC_ASSIGN_OR_RETURN(const ObservationPlan plan, ObservationPlan::Create(*scene.model, request.observe()));
  EIPC_RETURN_IF_ERROR(context.ReserveAnswer(plan.MostBytes(*scene.model)));
  EIPC_RETURN_IF_ERROR(PrepareCameras(services, context, session, request.world(), plan));
  RequestMemory memory(&services.memory, "reading the snapshot");
  Snapshot snapshot;
  switch (request.source_case()) {
    case v1::RestoreSessionRequest::kSnapshot: {
      EIPC_ASSIGN_OR_RETURN(snapshot, StateOfSnapshot(services, context, request.snapshot(), scene, &memory));
      break;
    }
    case v1::RestoreSessionRequest::kSnapshotData: {
      EIPC_ASSIGN_OR_RETURN(snapshot, StateOfForeignSnapshot(request.snapshot_data(), scene, &memory));
      break;
    }
    case v1::RestoreSessionRequest::SOURCE_NOT_SET:
      return absl::InvalidArgumentError("INVALID_REQUEST: source: must be a snapshot or snapshot_data");
  }
  EIPC_RETURN_IF_ERROR(session->NoteMigrated(snapshot.migrated_from_build));
  EIPC_RETURN_IF_ERROR(session->Restore(request.world(), snapshot.state));
  session->CheckpointLogIfDue(session.name());
  services.feeds.Publish(session.name(), request.world(), session->world(request.world()));
  plan.Observe(session->world(request.world()), response);
  DrawCameras(services, context, session, request.world(), plan, response);
  response->set_migrated_from_build(snapshot.migrated_from_build);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
