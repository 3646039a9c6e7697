#include "server/rpc/handlers/calls.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status DeleteScene(Services& services, const CallContext& context, const v1::DeleteSceneRequest& request, Empty*) {
  EIPC_RETURN_IF_ERROR(services.CheckOpen());
  return services.DeleteScene(request.name(), context.tenant);
}

}  // namespace eipc::rpc
