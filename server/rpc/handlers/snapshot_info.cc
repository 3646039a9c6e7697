#include "server/rpc/handlers/snapshot_info.h"

#include "server/session/build_id.h"

namespace eipc::rpc {

void FillSnapshotInfo(const StoredSnapshot& snapshot, bool data, v1::SnapshotInfo* out) {
  out->set_name(snapshot.name);
  out->set_scene(snapshot.scene);
  out->set_build(BuildId());
  out->set_step(snapshot.step);
  out->set_time_s(snapshot.time_s);
  out->set_state_digest(snapshot.digest);
  out->set_size_bytes(static_cast<int64_t>(snapshot.data.size()));
  if (data) out->set_data(snapshot.data);
}

}  // namespace eipc::rpc
