#ifndef EIPC_SERVER_RPC_OPERATION_INFO_H_
#define EIPC_SERVER_RPC_OPERATION_INFO_H_

#include "eipc/v1/service.pb.h"
#include "server/session/operations.h"

namespace eipc::rpc {

inline constexpr char kCreateSceneKind[] = "create_scene";
inline constexpr char kPrepareMeshKind[] = "prepare_mesh";
inline constexpr char kStepBatchKind[] = "step_batch";

void FillOperation(const OperationRegistry::View& view, v1::Operation* out);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_OPERATION_INFO_H_
