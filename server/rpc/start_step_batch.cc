#include "server/rpc/calls.h"
#include "server/rpc/operation_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status StartStepBatch(Services& services, const CallContext& context, const v1::StepBatchRequest& request,
                            v1::Operation* response) {
  const auto job = [&services, request, tenant = context.tenant, trace = context.trace](
                       const StepBudget& budget, OperationRegistry::Progress* progress) -> absl::StatusOr<std::string> {
    CallContext call(budget);
    call.tenant = tenant;
    call.trace = trace;
    progress->Set(0, "stepping");
    v1::StepBatchResponse batch;
    EIPC_RETURN_IF_ERROR(StepBatch(services, call, request, &batch));
    EIPC_RETURN_IF_ERROR(budget.Poll());
    return batch.SerializeAsString();
  };
  EIPC_ASSIGN_OR_RETURN(const OperationRegistry::View view, services.operations.Start(context.tenant, kStepBatchKind, job));
  FillOperation(view, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
