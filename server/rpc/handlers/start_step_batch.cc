#include <cstdint>
#include <limits>

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
    // Nobody waits for the answer, but it is no larger than one that is sent, and its pictures count.
    AnswerRoom room(std::numeric_limits<int64_t>::max());
    AnswerRoom::Share share(&room, call.tenant);
    CallContext own = call;
    own.answer = &share;
    v1::StepBatchResponse batch;
    EIPC_RETURN_IF_ERROR(StepBatch(services, own, held->request, &batch));
    EIPC_RETURN_IF_ERROR(call.budget.Poll());
    return batch.SerializeAsString();
  };
  return StartOperation(services, context, kStepBatchKind, JobEffect::kAudited, job, response);
}

}  // namespace eipc::rpc
