#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/operation_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status StartCreateScene(Services& services, const CallContext& context, const v1::CreateSceneRequest& request,
                              v1::Operation* response) {
  EIPC_ASSIGN_OR_RETURN(const auto held, HoldRequest(services, context.tenant, request));
  const auto job = [&services, held](const CallContext& call,
                                     OperationRegistry::Progress* progress) -> absl::StatusOr<std::string> {
    v1::SceneInfo info;
    EIPC_RETURN_IF_ERROR(MakeScene(services, call, held->request, progress, &info));
    return info.SerializeAsString();
  };
  const JobEffect effect = request.validate_only() ? JobEffect::kNone : JobEffect::kAudited;
  return StartOperation(services, context, kCreateSceneKind, effect, job, response);
}

}  // namespace eipc::rpc
