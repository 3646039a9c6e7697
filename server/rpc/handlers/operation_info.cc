#include "server/rpc/handlers/operation_info.h"

#include <string>
#include <utility>

#include "server/rpc/handlers/audit_call.h"
#include "server/rpc/handlers/reason.h"
#include "sim/base/status_macros.h"
#include "sim/base/utf8.h"

namespace eipc::rpc {

void FillOperation(const OperationRegistry::View& view, v1::Operation* out) {
  out->set_name(view.name);
  out->set_kind(view.kind);
  out->set_done(view.done);
  out->set_progress(view.progress);
  out->set_stage(ToUtf8(view.stage));
  if (!view.done) return;
  const absl::Status status = ForWire(view.status);
  out->set_status_code(static_cast<int>(status.code()));
  out->set_status_message(std::string(status.message()));
  if (view.result == nullptr) return;
  if (view.kind == kCreateSceneKind) (void)out->mutable_scene()->ParseFromString(*view.result);
  if (view.kind == kPrepareMeshKind) (void)out->mutable_prepared()->ParseFromString(*view.result);
  if (view.kind == kStepBatchKind) (void)out->mutable_batch()->ParseFromString(*view.result);
}

absl::Status FillResults(Services& services, const std::vector<OperationRegistry::View>& views,
                         const std::function<v1::Operation*()>& add) {
  // As a message, and serialized.
  constexpr int64_t kPerByte = 4;
  RequestMemory memory(&services.memory, "the results of operations");
  for (const OperationRegistry::View& view : views) {
    if (view.result != nullptr) EIPC_RETURN_IF_ERROR(memory.Add(kPerByte * static_cast<int64_t>(view.result->size())));
    FillOperation(view, add());
  }
  return absl::OkStatus();
}

absl::Status StartOperation(Services& services, const CallContext& context, const char* kind, JobEffect effect, CallJob job,
                            v1::Operation* response) {
  // Of the call's own end the operation knows nothing.
  CallContext call = context;
  call.budget = {};
  call.priority = SolvePriority::kBatch;
  call.answer = nullptr;
  const auto run = [call, job = std::move(job)](const StepBudget& budget, OperationRegistry::Progress* progress) {
    CallContext own = call;
    own.budget = budget;
    return job(own, progress);
  };
  OperationRegistry::Ended ended;
  if (services.audit != nullptr && effect == JobEffect::kAudited) {
    ended = [call, audit = services.audit](const OperationRegistry::View& view) { audit->Write(AuditedEnd(call, view)); };
  }
  EIPC_ASSIGN_OR_RETURN(const OperationRegistry::View view, services.operations.Start(context.tenant, kind, run, std::move(ended)));
  FillOperation(view, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
