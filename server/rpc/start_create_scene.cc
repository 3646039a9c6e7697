#include "server/rpc/calls.h"
#include "server/rpc/operation_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status StartCreateScene(Services& services, const CallContext& context, const v1::CreateSceneRequest& request,
                              v1::Operation* response) {
  const auto job = [&services, request, tenant = context.tenant](
                       const StepBudget& budget, OperationRegistry::Progress* progress) -> absl::StatusOr<std::string> {
    CallContext call(budget);
    call.tenant = tenant;
    call.priority = SolvePriority::kBatch;
    v1::SceneInfo info;
    EIPC_RETURN_IF_ERROR(MakeScene(services, call, request, progress, &info));
    return info.SerializeAsString();
  };
  EIPC_ASSIGN_OR_RETURN(const OperationRegistry::View view, services.operations.Start(context.tenant, kCreateSceneKind, job));
  FillOperation(view, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
