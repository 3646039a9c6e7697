#ifndef EIPC_SERVER_RPC_HANDLERS_OPERATION_INFO_H_
#define EIPC_SERVER_RPC_HANDLERS_OPERATION_INFO_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "eipc/v1/service.pb.h"
#include "server/rpc/handlers/call_context.h"
#include "server/rpc/handlers/services.h"
#include "server/session/operations.h"

namespace eipc::rpc {

inline constexpr char kCreateSceneKind[] = "create_scene";
inline constexpr char kPrepareMeshKind[] = "prepare_mesh";
inline constexpr char kStepBatchKind[] = "step_batch";

void FillOperation(const OperationRegistry::View& view, v1::Operation* out);

// A job's part of a call: returns the serialized result. `call` is in the name of whoever began it, and as little urgent as a
// batch.
using CallJob = std::function<absl::StatusOr<std::string>(const CallContext& call, OperationRegistry::Progress* progress)>;

// Begins the job as an operation, and describes it.
absl::Status StartOperation(Services& services, const CallContext& context, const char* kind, CallJob job, v1::Operation* response);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_OPERATION_INFO_H_
