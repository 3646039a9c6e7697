#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/operation_info.h"
#include "sim/base/status_macros.h"

namespace eipc::rpc {

absl::Status CancelOperation(Services& services, const CallContext& context, const v1::CancelOperationRequest& request,
                             v1::Operation* response) {
  EIPC_ASSIGN_OR_RETURN(const OperationRegistry::View view, services.operations.Cancel(request.name(), context.tenant));
  FillOperation(view, response);
  return absl::OkStatus();
}

}  // namespace eipc::rpc
