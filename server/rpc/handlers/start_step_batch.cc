#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/operation_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status StartStepBatch(Services& services, const CallContext& context, const v1::StepBatchRequest& request,
                            v1::Operation* response) {
  EIPC_ASSIGN_OR_RETURN(const auto held, HoldRequest(services, context.tenant, request));
  const auto job = [&services, held](const CallContext& call,
                                     OperationRegistry::Progress* progress) -> absl::StatusOr<std::string> {
    progress->Set(0, "stepping");
    v1::StepBatchResponse batch;
    EIPC_RETURN_IF_ERROR(StepBatch(services, call, held->request, &batch));
    EIPC_RETURN_IF_ERROR(call.budget.Poll());
    return batch.SerializeAsString();
  };
  return StartOperation(services, context, kStepBatchKind, JobEffect::kAudited, job, response);
}

}  // namespace eipc::rpc
