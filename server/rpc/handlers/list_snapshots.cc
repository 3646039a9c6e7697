#include <vector>

#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/paging.h"
#include "server/rpc/handlers/snapshot_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status ListSnapshots(Services& services, const CallContext& context, const v1::ListSnapshotsRequest& request,
                           v1::ListSnapshotsResponse* response) {
  EIPC_ASSIGN_OR_RETURN(const int size, PageSize(request.page_size()));
  std::vector<SnapshotStore::Ptr> snapshots = services.snapshots.List(request.page_token(), size + 1, context.tenant);
  const bool more = static_cast<int>(snapshots.size()) > size;
  if (more) snapshots.pop_back();
  for (const SnapshotStore::Ptr& snapshot : snapshots) FillSnapshotInfo(*snapshot, false, response->add_snapshots());
  if (more) response->set_next_page_token(snapshots.back()->name);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
