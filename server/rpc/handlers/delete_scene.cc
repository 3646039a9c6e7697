#include "server/rpc/handlers/calls.h"

namespace eipc::rpc {

absl::Status DeleteScene(Services& services, const CallContext& context, const v1::DeleteSceneRequest& request, Empty*) {
  return services.DeleteScene(request.name(), context.tenant);
}

}  // namespace eipc::rpc
