#include "server/rpc/handlers/calls.h"

namespace eipc::rpc {

absl::Status DeleteSession(Services& services, const CallContext& context, const v1::DeleteSessionRequest& request, Empty*) {
  return services.DeleteSession(request.session(), context.budget, context.tenant);
}

}  // namespace eipc::rpc
