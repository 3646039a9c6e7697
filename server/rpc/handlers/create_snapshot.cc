#include <utility>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/session_setup.h"
#include "server/rpc/handlers/snapshot_info.h"
#include "server/session/snapshot.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status CreateSnapshot(Services& services, const CallContext& context, const v1::CreateSnapshotRequest& request,
                            v1::SnapshotInfo* response) {
  StoredSnapshot snapshot;
  {
    EIPC_ASSIGN_OR_RETURN(const SessionRegistry::Lease session,
                          services.sessions.Acquire(request.session(), context.budget, context.tenant));
    session->Touch();
    EIPC_RETURN_IF_ERROR(CheckWorld(*session, request.world()));
    const State& state = session->world(request.world()).state();
    snapshot.owner = context.tenant;
    snapshot.scene = session->scene_name();
    snapshot.step = state.step;
    snapshot.time_s = state.time_s;
    snapshot.digest = state.Digest();
    snapshot.data = PackSnapshot(snapshot.scene, state, session->world(request.world()).model());
    EIPC_ASSIGN_OR_RETURN(snapshot.memory, services.tenant_memory.Take(
                                               context.tenant, static_cast<int64_t>(snapshot.data.capacity()), "the snapshot"));
  }
  if (request.transient() || request.include_data()) {
    EIPC_RETURN_IF_ERROR(context.ReserveAnswer(static_cast<int64_t>(snapshot.data.size())));
  }
  if (request.transient()) {
    FillSnapshotInfo(snapshot, true, response);
    return absl::OkStatus();
  }
  EIPC_ASSIGN_OR_RETURN(const SnapshotStore::Ptr stored, services.snapshots.Add(std::move(snapshot)));
  FillSnapshotInfo(*stored, request.include_data(), response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
