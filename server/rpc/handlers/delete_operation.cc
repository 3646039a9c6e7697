#include "server/rpc/handlers/calls.h"

namespace eipc::rpc {

absl::Status DeleteOperation(Services& services, const CallContext& context, const v1::DeleteOperationRequest& request, Empty*) {
  return services.operations.Delete(request.name(), context.tenant);
}

}  // namespace eipc::rpc
