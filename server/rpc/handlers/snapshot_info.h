#ifndef EIPC_SERVER_RPC_HANDLERS_SNAPSHOT_INFO_H_
#define EIPC_SERVER_RPC_HANDLERS_SNAPSHOT_INFO_H_

#include "eipc/v1/service.pb.h"
#include "server/session/snapshot_store.h"

namespace eipc::rpc {

void FillSnapshotInfo(const StoredSnapshot& snapshot, bool data, v1::SnapshotInfo* out);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_SNAPSHOT_INFO_H_
