#ifndef EIPC_SERVER_RPC_HANDLERS_PREPARE_WORKER_H_
#define EIPC_SERVER_RPC_HANDLERS_PREPARE_WORKER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "eipc/v1/service.pb.h"
#include "server/os/child_process.h"
#include "server/session/operations.h"
#include "sim/meshing/progress.h"
#include "sim/solver/step_budget.h"

namespace eipc::rpc {

// What PrepareMesh makes of a mesh given as arrays, in metres (sim/meshing/auto_cage.h), or of a shell
// (sim/meshing/prepare_sheet.h). INVALID_ARGUMENT says why nothing can be made of it, CANCELLED.
absl::StatusOr<v1::PreparedMesh> PrepareMesh(const v1::PrepareMeshRequest& request, const MeshingProgress& progress);

// The same in a child process: `program --prepare-worker`, which is limited and which the budget ends at once.
absl::StatusOr<v1::PreparedMesh> PrepareMeshInChild(const std::string& program, const v1::PrepareMeshRequest& request,
                                                    const StepBudget& budget, const ChildLimits& limits,
                                                    OperationRegistry::Progress* progress);

// The child's part on standard input and output, for main: an exit status.
int RunPrepareWorker();

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_HANDLERS_PREPARE_WORKER_H_
