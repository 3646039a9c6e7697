#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/snapshot_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status GetSnapshot(Services& services, const CallContext& context, const v1::GetSnapshotRequest& request,
                         v1::SnapshotInfo* response) {
  EIPC_ASSIGN_OR_RETURN(const SnapshotStore::Ptr snapshot, services.snapshots.Find(request.name(), context.tenant));
  if (request.include_data()) EIPC_RETURN_IF_ERROR(context.ReserveAnswer(static_cast<int64_t>(snapshot->data.size())));
  FillSnapshotInfo(*snapshot, request.include_data(), response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
