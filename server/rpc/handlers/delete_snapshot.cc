#include "server/rpc/handlers/calls.h"

namespace eipc::rpc {

absl::Status DeleteSnapshot(Services& services, const CallContext& context, const v1::DeleteSnapshotRequest& request, Empty*) {
  return services.snapshots.Delete(request.name(), context.tenant);
}

}  // namespace eipc::rpc
